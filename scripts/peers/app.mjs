import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from '../workspace.mjs'

/**
 * @typedef {import('../../packages/subagent-acp/src/index.ts').Input} AcpConfig
 * @typedef {import('../../packages/subagent/src/index.ts').SubagentRun} SubagentRun
 * @typedef {import('../../packages/subagent/src/index.ts').SubagentResult} SubagentResult
 */

const packages = join(root, 'packages')
// The built packages, as an app gets them; this file is compiled before they are.
/** @type {typeof import('../../packages/runtime/src/index.ts')} */
const runtime = await load('runtime/lib/index.js')
/** @type {typeof import('../../packages/subagent-acp/src/index.ts')} */
const acp = await load('subagent-acp/lib/index.js')
/** @type {typeof import('../../packages/model/src/testing.ts')} */
const { fakeModel } = await load('model/lib/testing.js')
/** @type {{ Context: new () => Parameters<typeof runtime.apply>[0] }} */
const { Context } = await import(pathToFileURL(createRequire(join(packages, 'runtime', 'package.json')).resolve('cordis')).href)
/** @type {typeof import('../../packages/processes/src/index.ts')} */
export const { listProcesses, signalProcess, wasStartedWith } = await load('processes/lib/index.js')

/** @param {string} file */
function load(file) {
  return import(pathToFileURL(join(packages, file)).href)
}

/**
 * An app with one ACP provider for each config, and a parent that somebody attends.
 *
 * @param {AcpConfig[]} configs
 * @param {(approval: import('../../packages/approvals/src/index.ts').Approval) => void} asked
 * @param {(line: string) => void} warned
 */
export async function startApp(configs, asked, warned) {
  const ctx = new Context()
  ctx.logger.exporter({ colors: false, levels: { default: 1 }, export: ({ args }) => { warned(args.map(String).join(' ')) } })
  await ctx.plugin(runtime, {})
  ctx.models.register('main', fakeModel(() => 'nothing'))
  for (const config of configs) await ctx.plugin(acp, config)
  const parent = ctx.agents.create()
  ctx.approvals.attend({ asked }, parent)
  return {
    /**
     * Start a child. Whoever starts it disposes it.
     *
     * @param {string} provider
     * @param {{ prompt: string, cwd: string, signal: AbortSignal }} request
     */
    start: (provider, request) => ctx.subagents.start(provider, { ...request, parent }),
    /** Ends every child that is left. */
    stop: () => ctx.fiber.dispose(),
  }
}
