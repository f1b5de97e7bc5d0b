import type { LanguageModelV3 } from '@ai-sdk/provider'
import { describeFailure } from '@offshoot/model'
import { moduleResolve } from 'import-meta-resolve'
import { checkBaseURL } from './base-url.ts'
import { EndpointError } from './error.ts'
import { PackageModel, type VendorOptions } from './package-model.ts'

export interface PackageOptions {
  /** An AI SDK v6 provider package: `@ai-sdk/anthropic`. */
  readonly provider: string
  readonly model: string
  /** Default: the vendor's own. */
  readonly baseURL?: string
  /** Default: from the environment variable that the package reads. */
  readonly apiKey?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly providerOptions?: VendorOptions
  /** The media types of files that it takes, such as `image/*`. Absent: not known. */
  readonly accepts?: readonly string[] | undefined
}

/** The package in a name that may go on with a part of it: `no-such` in `no-such/part`. */
const packageName = /^(@[\w.~-]+\/)?[\w~-][\w.~-]*(?=$|\/)/

/** Whether `name` can be a package, or a part of one. */
export function isPackageName(name: string): boolean {
  return packageName.test(name)
}

/**
 * A model of the package that `provider` names, looked for from each of `places` (URLs of files or folders) in turn.
 *
 * @throws {EndpointError} `PROVIDER_NOT_INSTALLED`, with the command that installs it; `INVALID_PROVIDER` for a package
 * that makes no models of the AI SDK's V3 contract; `INVALID_BASE_URL`.
 */
export async function loadPackageModel(options: PackageOptions, places: readonly string[]): Promise<PackageModel> {
  const { provider, model, baseURL, apiKey, headers, providerOptions, accepts } = options
  if (baseURL !== undefined) checkBaseURL(baseURL, 'a full address, or leave it out for the vendor\'s own')
  const exports = await importPackage(provider, resolve(provider, places))
  return new PackageModel(makeModel(exports, provider, model, {
    ...(baseURL === undefined ? {} : { baseURL }),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(headers === undefined ? {} : { headers }),
  }), providerOptions, accepts)
}

type Exports = Readonly<Record<string, unknown>>

function resolve(name: string, places: readonly string[]): URL {
  for (const place of places) {
    try {
      const url = moduleResolve(name, new URL(place), new Set(['node', 'import']))
      if (url.protocol === 'file:') return url
      throw new Error('it is a part of Node.js')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw unusable(name, `cannot be used: ${describeFailure(error)}`, error)
    }
  }
  const [installable = name] = packageName.exec(name) ?? []
  throw new EndpointError('PROVIDER_NOT_INSTALLED', `provider package "${installable}" is not installed; run: npm install ${installable}`)
}

async function importPackage(name: string, url: URL): Promise<Exports> {
  try {
    return await import(/* @vite-ignore */ url.href) as Exports
  } catch (error) {
    throw unusable(name, `cannot be imported: ${describeFailure(error)}`, error)
  }
}

/** A provider package exports what makes its provider: `createAnthropic`. Where there are several, the first that does is taken. */
function makeModel(exports: Exports, name: string, modelId: string, settings: object): LanguageModelV3 {
  let failure: unknown
  for (const [key, make] of Object.entries(exports)) {
    if (!/^create[A-Z]/.test(key) || typeof make !== 'function') continue
    let model: Partial<LanguageModelV3> | undefined
    try {
      const provider = make(settings) as { languageModel?: (id: string) => LanguageModelV3 } | undefined
      model = provider?.languageModel?.(modelId)
    } catch (error) {
      failure ??= error
    }
    if (typeof model?.doStream !== 'function') continue
    if (model.specificationVersion === 'v3') return model as LanguageModelV3
    failure = new Error(`its models are of specification "${String(model.specificationVersion)}", and "v3" (the AI SDK v6 line) is needed; install another version`)
  }
  throw unusable(name, failure === undefined
    ? 'is no AI SDK provider: it exports no function create… that makes one'
    : `cannot be used: ${describeFailure(failure)}`, failure)
}

function unusable(name: string, why: string, cause: unknown): EndpointError {
  return new EndpointError('INVALID_PROVIDER', `provider package "${name}" ${why}`, { cause })
}
