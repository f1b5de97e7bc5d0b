// A host with one child, which ends in the way that it is told to once its standard input does.
import AgentService from '@offshoot/agent'
import ModelService from '@offshoot/model'
import { fakeModel } from '@offshoot/model/testing'
import SessionService from '@offshoot/session'
import SubagentService from '@offshoot/subagent'
import ToolService from '@offshoot/tools'
import { Context } from 'cordis'
import * as acp from '../lib/index.js'

const { config, how, task } = JSON.parse(process.argv[2])
const ctx = new Context()
for (const plugin of [SessionService, ModelService, ToolService, AgentService, SubagentService]) await ctx.plugin(plugin, {})
ctx.models.register('main', fakeModel(() => 'ok'))
const plugin = await ctx.plugin(acp, config)
ctx.subagents.start('acp', { prompt: task, parent: ctx.agents.create(), signal: new AbortController().signal }).catch(() => {})
process.stdin.resume().on('end', async () => {
  if (how === 'unload') await plugin.dispose()
  if (how === 'exit' || how === 'unload') process.exit(0)
  if (how === 'throw') throw new Error('a bug in the host')
  process.kill(process.pid, how)
})
