import type {} from '@offshoot/agent'
import type {} from '@offshoot/subagent'
import type { Context } from 'cordis'
import z from 'schemastery'
import { SpawnProvider } from './provider.ts'

export { SpawnProvider } from './provider.ts'

export const name = 'subagent-spawn'
export const inject = ['agents', 'subagents']

export interface Config {
  /** The name that tools and callers start this provider by. */
  name: string
}

export const Config: z<Partial<Config>, Config> = z.object({
  name: z.string().default('spawn').description('The name that tools and callers start this provider by.'),
})

export function apply(ctx: Context, config: Config): void {
  ctx.subagents.registerProvider(new SpawnProvider(config.name, ctx.agents.core))
}
