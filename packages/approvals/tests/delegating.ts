import type { ModelRequest } from '@offshoot/model'
import * as toolSubagent from '@offshoot/tool-subagent'
import { type App, resultsOf, startApp } from './support.ts'

export const labelOf = ({ providerOptions }: ModelRequest): string => (providerOptions!['offshoot'] as { label: string }).label

export interface Call {
  readonly name: string
  readonly args: object
}

/** What each agent does in its first step, by its label. */
export type Plan = Readonly<Record<string, readonly Call[]>>

export const act = (what: string): Call => ({ name: 'act', args: { what } })

/** Delegates to a child of this label. */
export const child = (description: string, { inBackground = false, tool = 'subagent' } = {}): Call =>
  ({ name: tool, args: { description, prompt: 'Go.', ...(inBackground ? { run_in_background: true } : {}) } })

/** An app whose agents do as planned, then say that they are done; with the tool `subagent`, and those of `tools`. */
export async function delegating(plan: Plan, config: Parameters<typeof startApp>[0] = { execute: 'ask' }, more: Parameters<typeof startApp>[2] = {}, tools: readonly Partial<toolSubagent.Config>[] = []): Promise<App> {
  const begun = new Set<string>()
  const app = await startApp(config, request => {
    const label = labelOf(request)
    if (begun.has(label)) return `${label} is done`
    begun.add(label)
    return { calls: [...plan[label] ?? []] }
  }, more)
  for (const tool of [{ provider: 'spawn' }, ...tools]) await app.ctx.plugin(toolSubagent, { concurrency: 'parallel', ...tool })
  return app
}

/** What the agent of this label read, in its last request, as the results of its calls. */
export function readBy({ model }: App, label: string): string[] {
  return resultsOf(model.requests.filter(request => labelOf(request) === label).at(-1))
}
