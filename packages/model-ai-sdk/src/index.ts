import type {} from '@offshoot/model'
import type { Context } from 'cordis'
import { pathToFileURL } from 'node:url'
import type { Config as ModelConfig } from './config.ts'
import { loadPackageModel } from './load-package.ts'
import { EndpointModel } from './model.ts'

export { Config, type Input } from './config.ts'
export { EndpointError, type EndpointErrorCode } from './error.ts'
export type { PackageOptions } from './load-package.ts'
export { EndpointModel, type EndpointOptions } from './model.ts'
export { PackageModel, type VendorOptions } from './package-model.ts'

export const name = 'model-ai-sdk'
export const inject = ['models']

/** `FiberState.UNLOADING`: Cordis declares the enum so that it cannot be imported. */
const unloading = 5

export async function apply(ctx: Context, config: ModelConfig): Promise<void> {
  const { models, fiber } = ctx
  if (config.provider === undefined) {
    models.register(config.name, new EndpointModel(config))
    return
  }
  // Where the app's plugins are looked for, and then what comes with this package.
  const places = [ctx.baseUrl, pathToFileURL(`${process.cwd()}/`).href, import.meta.url].filter(place => place !== undefined)
  const model = await loadPackageModel(config, places)
  // The plugin may have been unloaded meanwhile; nothing may be registered then.
  if (fiber.uid !== null && Number(fiber.state) !== unloading) models.register(config.name, model)
}
