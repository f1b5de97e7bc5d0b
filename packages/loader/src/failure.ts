import type { Fiber } from 'cordis'
import { describeError } from './describe.ts'
import { labelEntry } from './entry.ts'
import type { Findings } from './findings.ts'
import type { Mount, Mounter } from './mount.ts'

/** The lines that say why a plugin failed. */
export function explainFailure(fiber: Fiber, error: unknown, mounter: Mounter, findings: Findings): string[] {
  const prefix = within(fiber, mounter.ownerOf(fiber))
  return (readValidation(error) ?? [explainTaken(fiber, error, mounter, findings) ?? describeError(error)])
    .map(message => `${prefix}${message}`)
}

/** `plugin "x": ` for a plugin that another one loaded. */
export function within(fiber: Fiber, mount: Mount | undefined): string {
  return fiber === mount?.fiber || !fiber.runtime?.name ? '' : `plugin "${fiber.runtime.name}": `
}

/** Cordis's own error for an invalid config: a heading, and an indented line for each issue. */
function readValidation(error: unknown): string[] | undefined {
  if ((error as Error | undefined)?.name !== 'ValidationError') return undefined
  const [heading, ...issues] = (error as Error).message.split('\n')
  if (heading !== 'invalid config:') return undefined
  return issues.map((issue) => {
    const [, message = issue, path] = /^ {2}- (?:\$\S* )?(.*?)(?: \(at (.*)\))?$/.exec(issue) ?? []
    return path ? `config key "${path}": ${message}` : `config: ${message}`
  })
}

/** Cordis names the plugin that a service is taken by; people need the entry. */
function explainTaken(fiber: Fiber, error: unknown, mounter: Mounter, findings: Findings): string | undefined {
  const [, service] = /^service "(.+)" has been registered at </.exec((error as Error | undefined)?.message ?? '') ?? []
  const holder = service && fiber.ctx.reflect._getImpl(service, false)?.fiber
  const entry = holder && mounter.ownerOf(holder)?.entry
  return entry && `service "${service}" is already provided by ${labelEntry(entry)} at ${findings.where(entry.at)}; remove one of the two, or "isolate" it`
}
