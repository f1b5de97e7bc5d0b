import { describeProvider } from '@offshoot/subagent/testing'
import * as fork from '../src/index.ts'

describeProvider('fork', {
  provider: 'fork',
  mount: async ctx => { await ctx.plugin(fork, {}) },
})

describeProvider('fork with seed "steps"', {
  provider: 'fork',
  mount: async ctx => { await ctx.plugin(fork, { seed: 'steps' }) },
})
