import type { JSONObject, LanguageModelV3 } from '@ai-sdk/provider'
import { describeFailure, type LanguageModel, type ModelRequest, type ModelStreamPart } from '@offshoot/model'
import { withBreakpoints } from './breakpoints.ts'
import { withoutOrigin } from './prompt.ts'
import { openStream } from './stream.ts'
import { statedUsage } from './usage.ts'

/** Options for the AI SDK's adapters, by the vendor's name in the AI SDK: `{ anthropic: { thinking: … } }`. */
export type VendorOptions = Readonly<Record<string, JSONObject>>

/** A model of an AI SDK provider package, with cache breakpoints for vendors that cache nothing without. It does not retry. */
export class PackageModel implements LanguageModel {
  readonly specificationVersion = 'v3'
  readonly provider: string
  readonly modelId: string
  readonly accepts: readonly string[] | undefined
  private readonly model: LanguageModelV3
  private readonly options: VendorOptions

  constructor(model: LanguageModelV3, options: VendorOptions = {}, accepts?: readonly string[]) {
    this.model = model
    this.provider = model.provider
    this.modelId = model.modelId
    this.options = options
    this.accepts = accepts
  }

  doStream(request: ModelRequest): Promise<{ stream: AsyncIterable<ModelStreamPart> }> {
    const { anthropic = {}, ...others } = this.optionsOf(request)
    // At the top of a request it would be a fifth breakpoint, and refused.
    const { cacheControl, ...rest } = anthropic
    const marked = withBreakpoints({ ...request, prompt: withoutOrigin(request.prompt) }, cacheControl)
    const providerOptions = Object.keys(rest).length > 0 ? { ...others, anthropic: rest } : others
    return openStream(this.model, { ...marked, providerOptions }, cause => this.broken(cause), part => ({ ...part, usage: statedUsage(part.usage) }))
  }

  /** What a request says goes before what the config says. */
  private optionsOf({ providerOptions: { offshoot: _, ...asked } = {} }: ModelRequest): Record<string, JSONObject> {
    const options: Record<string, JSONObject> = { ...this.options }
    for (const [vendor, own] of Object.entries(asked)) options[vendor] = { ...options[vendor], ...own }
    return options
  }

  private broken(cause: unknown): Error {
    return new Error(`${this.provider} (${this.modelId}) broke off its answer: ${describeFailure(cause)}`, { cause })
  }
}
