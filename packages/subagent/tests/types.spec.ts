import type { Agent, StopReason } from '@offshoot/agent'
import type { ToolExec } from '@offshoot/tools'
import type { Context, Events } from 'cordis'
import { expectTypeOf, it } from 'vitest'
import type SubagentService from '../src/index.ts'
import type { ProviderRun, ProviderStartRequest, SubagentProvider, SubagentResult, SubagentRun, SubagentRunInfo, SubagentStartRequest } from '../src/index.ts'
import { SmallProvider } from './small-provider.ts'

declare module '@offshoot/agent' {
  interface StopReasons {
    'out-of-paper': true
  }
}

it('ctx.subagents is the service', () => {
  expectTypeOf<Context['subagents']>().toEqualTypeOf<SubagentService>()
})

it('the events carry what they tell of', () => {
  expectTypeOf<Events['subagent/provider-added']>().toEqualTypeOf<(provider: SubagentProvider) => void>()
  expectTypeOf<Events['subagent/provider-removed']>().toEqualTypeOf<(name: string) => void>()
  expectTypeOf<Events['subagent/start']>().toEqualTypeOf<(info: SubagentRunInfo) => void>()
  expectTypeOf<Events['subagent/end']>().toEqualTypeOf<(info: SubagentRunInfo, result: SubagentResult) => void>()
})

it('a tool sees its agent, which is a start\'s parent', () => {
  expectTypeOf<NonNullable<ToolExec['agent']>>().toEqualTypeOf<Agent>()
  expectTypeOf<ToolExec['agent']>().toEqualTypeOf<SubagentStartRequest['parent'] | undefined>()
})

it('a result ends as a turn does, and with the reasons that others add', () => {
  expectTypeOf<SubagentResult['stopReason']>().toEqualTypeOf<StopReason>()
  expectTypeOf<'out-of-paper'>().toExtend<SubagentResult['stopReason']>()
  expectTypeOf<'no-such-reason'>().not.toExtend<SubagentResult['stopReason']>()
})

it('a turn\'s result is a child\'s: a provider in this process hands it on', () => {
  expectTypeOf<Awaited<ReturnType<Agent['run']>>>().toExtend<SubagentResult>()
})

it('prompt, parent and signal are all that a start must say', () => {
  expectTypeOf<{ prompt: string, parent: Agent, signal: AbortSignal }>().toExtend<SubagentStartRequest>()
  expectTypeOf<{ prompt: string, parent: Agent }>().not.toExtend<SubagentStartRequest>()
})

it('result and dispose are all that a child must have', () => {
  expectTypeOf<{ result: Promise<SubagentResult>, dispose(): Promise<void> }>().toExtend<ProviderRun>()
  expectTypeOf<ProviderStartRequest>().toExtend<SubagentStartRequest>()
  expectTypeOf<SubagentRun>().toExtend<AsyncDisposable>()
  expectTypeOf(SmallProvider).instance.toExtend<SubagentProvider>()
})

it('the config takes every key or none, and the plugin sees defaults', () => {
  expectTypeOf<Parameters<typeof SubagentService.Config>[0]>().toEqualTypeOf<SubagentService.Input | null | undefined>()
  expectTypeOf<ReturnType<typeof SubagentService.Config>>().toEqualTypeOf<SubagentService.Config>()
})
