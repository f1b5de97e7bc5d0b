import { describeProvider } from '@offshoot/subagent/testing'
import * as spawn from '../src/index.ts'

describeProvider('spawn', {
  provider: 'spawn',
  mount: async ctx => { await ctx.plugin(spawn, {}) },
})
