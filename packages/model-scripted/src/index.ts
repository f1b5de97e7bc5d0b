import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type {} from '@offshoot/model'
import type { Context } from 'cordis'
import z from 'schemastery'
import { ScriptError } from './error.ts'
import { loadScript } from './load.ts'
import { ScriptedModel } from './model.ts'
import { followRules } from './rules.ts'
import type { ScriptRule } from './types.ts'

export { ScriptError, type ScriptErrorCode } from './error.ts'
export { ScriptedModel } from './model.ts'
export type { Script, ScriptFailure, ScriptReply, ScriptRequest, ScriptRule } from './types.ts'

export const name = 'model-scripted'
export const inject = ['models']

export interface Config {
  /** What the app calls this model. */
  readonly name: string
  /** A file of rules, or a module; relative to the app's config file. */
  readonly script?: string
  /** The rules themselves. */
  readonly rules?: ScriptRule[]
}

export const Config: z<Partial<Config>, Config> = z.object({
  name: z.string().default('main').description('What the app calls this model.'),
  script: z.string().description('A file of rules, or a module; relative to the config file.'),
  rules: z.array(z.any<ScriptRule>()).default(undefined as never).description('The rules themselves.'),
})

export async function apply(ctx: Context, config: Config): Promise<void> {
  ctx.models.register(config.name, await load(config, ctx.baseUrl))
}

async function load({ name: model, script, rules }: Config, baseUrl: string | undefined): Promise<ScriptedModel> {
  if (script !== undefined && rules === undefined) {
    const file = resolve(baseUrl === undefined ? process.cwd() : fileURLToPath(baseUrl), script)
    return new ScriptedModel(await loadScript(file), `script ${file}`)
  }
  if (script === undefined && rules !== undefined) {
    const source = `model "${model}"`
    return new ScriptedModel(followRules(rules, source), source)
  }
  throw new ScriptError('INVALID_CONFIG', `model "${model}" needs "script" (a file) or "rules" (a list), one of the two`)
}
