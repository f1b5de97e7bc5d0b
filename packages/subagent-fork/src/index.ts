import type {} from '@offshoot/agent'
import type {} from '@offshoot/session'
import type {} from '@offshoot/subagent'
import type { Context } from 'cordis'
import z from 'schemastery'
import { ForkProvider } from './provider.ts'
import type { SeedKind } from './seed.ts'

export { ForkProvider } from './provider.ts'
export type { SeedKind } from './seed.ts'

export const name = 'subagent-fork'
export const inject = ['agents', 'sessions', 'subagents']

export interface Config {
  /** The name that tools and callers start this provider by. */
  name: string
  /** What a child inherits: the parent's completed turns, or also the completed steps of the turn under way. */
  seed: SeedKind
}

export const Config: z<Partial<Config>, Config> = z.object({
  name: z.string().default('fork').description('The name that tools and callers start this provider by.'),
  seed: z.union(['turns', 'steps'] as const).default('turns').description('What a child inherits: completed turns, or also the completed steps of the turn under way.'),
})

export function apply(ctx: Context, config: Config): void {
  ctx.subagents.registerProvider(new ForkProvider(config, ctx.agents.core, ctx.sessions.core))
}
