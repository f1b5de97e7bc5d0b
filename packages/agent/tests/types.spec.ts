import type { ToolExec } from '@offshoot/tools'
import type { Context, Events } from 'cordis'
import { expectTypeOf, it } from 'vitest'
import type AgentService from '../src/index.ts'
import type { Agent, AgentEvent, StopReason } from '../src/index.ts'

declare module '../src/index.ts' {
  interface StopReasons {
    'wandered-off': true
  }
}

it('ctx.agents is the service', () => {
  expectTypeOf<Context['agents']>().toEqualTypeOf<AgentService>()
})

it('the events carry the agent', () => {
  expectTypeOf<Events['agent/created']>().toEqualTypeOf<(agent: Agent) => void>()
  expectTypeOf<Events['agent/disposed']>().toEqualTypeOf<(agent: Agent) => void>()
  expectTypeOf<Events['agent/cancelled']>().toEqualTypeOf<(agent: Agent, reason: unknown) => void>()
})

it('a tool is told its agent, where there is one', () => {
  expectTypeOf<ToolExec>().toHaveProperty('agent').toEqualTypeOf<Agent | undefined>()
})

it('the set of stop reasons grows by declaration merging', () => {
  expectTypeOf<'wandered-off' | 'completed'>().toExtend<StopReason>()
  expectTypeOf<'no-such-reason'>().not.toExtend<StopReason>()
})

it('the config takes every key or none, and the plugin sees defaults', () => {
  expectTypeOf<Parameters<typeof AgentService.Config>[0]>().toEqualTypeOf<Partial<AgentService.Config> | null | undefined>()
  expectTypeOf<ReturnType<typeof AgentService.Config>>().toEqualTypeOf<AgentService.Config>()
  expectTypeOf<AgentService.Config>().toHaveProperty('maxSteps').toEqualTypeOf<number>()
})

it('an event is told apart by its type', () => {
  expectTypeOf<Extract<AgentEvent, { type: 'step-start' }>>().toEqualTypeOf<{ readonly type: 'step-start', readonly step: number }>()
})
