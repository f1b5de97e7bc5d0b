import type { Context, Events } from 'cordis'
import { expectTypeOf, it } from 'vitest'
import type TaskService from '../src/index.ts'
import type { Task, TaskOutcome, TaskSpec } from '../src/index.ts'

it('ctx.tasks is the service', () => {
  expectTypeOf<Context['tasks']>().toEqualTypeOf<TaskService>()
})

it('the events carry the task', () => {
  for (const name of ['task/started', 'task/settled', 'task/orphaned'] as const) expectTypeOf<Events[typeof name]>().toEqualTypeOf<(task: Task) => void>()
})

it('an outcome is told apart by its status: only a completed one has output, only a failed one an error', () => {
  expectTypeOf<Extract<TaskOutcome, { status: 'completed' }>>().toEqualTypeOf<{ readonly status: 'completed', readonly output: string }>()
  expectTypeOf<Extract<TaskOutcome, { status: 'failed' }>>().toEqualTypeOf<{ readonly status: 'failed', readonly error: string }>()
  expectTypeOf<Extract<TaskOutcome, { status: 'killed' }>>().toEqualTypeOf<{ readonly status: 'killed' }>()
})

it('work cannot leave out how it ended', () => {
  expectTypeOf<ReturnType<TaskSpec['run']>>().toEqualTypeOf<Promise<TaskOutcome>>()
})

it('the config takes every key or none, and the plugin sees defaults', () => {
  expectTypeOf<Parameters<typeof TaskService.Config>[0]>().toEqualTypeOf<Partial<TaskService.Config> | null | undefined>()
  expectTypeOf<ReturnType<typeof TaskService.Config>>().toEqualTypeOf<TaskService.Config>()
})
