import type { JSONValue } from '@ai-sdk/provider'
import z from 'schemastery'
import { isPackageName, type PackageOptions } from './load-package.ts'
import type { EndpointOptions } from './model.ts'

/** A model of an OpenAI-compatible endpoint or, with `provider`, of an AI SDK provider package. */
export type Config = (EndpointOptions & { readonly provider?: undefined } | PackageOptions) & {
  /** What the app calls this model. */
  readonly name: string
}

export interface Input {
  name?: string
  provider?: string
  baseURL?: string
  model: string
  apiKey?: string
  headers?: Record<string, string>
  providerOptions?: Record<string, JSONValue>
  accepts?: string[]
}

// Absent stays absent.
const absent = undefined as never

const fields = z.object({
  name: z.string().default('main').description('What the app calls this model.'),
  provider: z.string().description('An AI SDK v6 provider package, such as @ai-sdk/anthropic. Without it: an OpenAI-compatible endpoint.'),
  baseURL: z.string().description('The endpoint, up to and without /chat/completions. With a provider: instead of the vendor\'s own.'),
  model: z.string().required().description('The model, as the endpoint calls it.'),
  apiKey: z.string().role('secret').description('Of the endpoint or the vendor.'),
  headers: z.dict(z.string()).default(absent).description('Sent with every request.'),
  providerOptions: z.dict(z.any<JSONValue>()).default(absent).description('Sent in the body of every request. With a provider: by the vendor\'s name.'),
  accepts: z.array(z.string().pattern(/^[\w.+-]+\/(?:\*|[\w.+-]+)$/)).default(absent).description('The media types of files that the model takes, such as image/*; [] for none. Without it, all are sent.'),
})

export const Config = z.transform(fields, config => {
  const refuse = (path: string[], message: string): never => { throw new z.ValidationError(message, { path }) }
  const { provider, baseURL, providerOptions } = config as Input
  if (provider === undefined) {
    if (baseURL === undefined) refuse(['baseURL'], 'missing required value; name an endpoint, or a provider package as "provider"')
    return config
  }
  if (!isPackageName(provider)) refuse(['provider'], `"${provider}" is no package name; name one such as @ai-sdk/anthropic, or leave it out for an OpenAI-compatible endpoint`)
  for (const [vendor, options] of Object.entries(providerOptions ?? {})) {
    if (typeof options !== 'object' || options === null || Array.isArray(options)) {
      refuse(['providerOptions', vendor], 'with a provider, options stand under the vendor\'s name, as in { anthropic: { … } }')
    }
  }
  return config
}, true).default({}) as unknown as z<Input, Config>
