import type { JSONValue } from '@ai-sdk/provider'
import type {} from '@offshoot/model'
import type { Context } from 'cordis'
import z from 'schemastery'
import { EndpointModel, type EndpointOptions } from './model.ts'

export { EndpointError, type EndpointErrorCode } from './error.ts'
export { EndpointModel, type EndpointOptions } from './model.ts'

export const name = 'model-ai-sdk'
export const inject = ['models']

export interface Config extends EndpointOptions {
  /** What the app calls this model. */
  readonly name: string
}

export const Config: z<Omit<Config, 'name'> & { name?: string }, Config> = z.object({
  name: z.string().default('main').description('What the app calls this model.'),
  baseURL: z.string().required().description('The endpoint, up to and without /chat/completions.'),
  model: z.string().required().description('The model, as the endpoint calls it.'),
  apiKey: z.string().role('secret').description('Sent as a bearer token.'),
  headers: z.dict(z.string()).default(undefined as never).description('Sent with every request.'),
  providerOptions: z.dict(z.any<JSONValue>()).default(undefined as never).description('Sent in the body of every request.'),
})

export function apply(ctx: Context, config: Config): void {
  ctx.models.register(config.name, new EndpointModel(config))
}
