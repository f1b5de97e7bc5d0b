import { describeProvider } from '@offshoot/subagent/testing'
import { afterAll } from 'vitest'
import * as acp from '../src/index.ts'
import { fakeAgent, FakeAgentFiles } from '../src/testing.ts'
import { newTestMark } from './support.ts'

const files = new FakeAgentFiles()
const { env, survivors } = newTestMark()
afterAll(() => { files.dispose() })

describeProvider('acp', {
  provider: 'acp',
  mount: async ctx => { await ctx.plugin(acp, { ...fakeAgent(files.options), env }) },
  children: files,
  failingStart: { cwd: '/no/such/folder' },
  leftovers: survivors,
  patienceMs: 8000,
})
