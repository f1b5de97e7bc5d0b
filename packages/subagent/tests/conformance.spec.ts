import { textOf, type TextBlock } from '@offshoot/session'
import { describe, expect, it } from 'vitest'
import type { ProviderRun, ProviderStartRequest, SubagentResult } from '../src/index.ts'
import { checkProvider, describeProvider } from '../src/testing.ts'
import { ended, pluginFor, SmallProvider } from './small-provider.ts'

describeProvider('the smallest honest provider', {
  provider: 'small',
  mount: async ctx => { await ctx.plugin(pluginFor(agents => new SmallProvider(agents))) },
})

type Break = (run: ProviderRun, request: ProviderStartRequest) => ProviderRun

/** The honest provider with its run, or its request, changed. */
function broken(change: Break, alter = (request: ProviderStartRequest) => request): new (...args: ConstructorParameters<typeof SmallProvider>) => SmallProvider {
  return class extends SmallProvider {
    override async start(request: ProviderStartRequest): Promise<ProviderRun> {
      return change(await super.start(alter(request)), request)
    }
  }
}

const mapResult = (change: (result: SubagentResult, request: ProviderStartRequest) => SubagentResult): Break => (run, request) => ({
  ...run, begin: () => run.begin?.(), dispose: () => run.dispose(), result: run.result.then(result => change(result, request)),
})

const asSent = (run: ProviderRun): ProviderRun => run

const cases: [string, ReturnType<typeof broken>, string][] = [
  [
    'reports a failure as success, with the error as output',
    broken(mapResult(result => result.stopReason === 'error' ? ended('completed', result.diagnostic) : result)),
    'a child that fails settles with error: its result does not reject',
  ],
  [
    'lets its result reject',
    broken(run => ({
      ...run, begin: () => run.begin?.(), dispose: () => run.dispose(),
      result: run.result.then(result => { if (result.stopReason === 'error') throw new Error(result.diagnostic); return result }),
    })),
    'a child that fails settles with error: its result does not reject',
  ],
  [
    'calls silence a success',
    broken(mapResult(result => result.stopReason === 'empty-output' ? ended('completed') : result)),
    'a child that says nothing ends with empty-output, never completed',
  ],
  [
    'answers for a silent child with what its parent said last',
    broken(mapResult((result, { parent }) => {
      const said = textOf((parent.session.last?.message.content ?? []) as readonly TextBlock[])
      return result.stopReason === 'empty-output' && said !== '' ? ended('completed', said) : result
    })),
    'the output is never a text of the parent\'s, whatever the child saw of it',
  ],
  [
    'drops the partial text of a failure',
    broken(mapResult(result => result.stopReason === 'completed' ? result : { ...result, output: [] })),
    'partial text of a child that failed is kept, and is no success',
  ],
  [
    'answers with everything the child wrote',
    broken(mapResult(result => result.stopReason === 'completed' ? ended('completed', `Let me look. ${textOf(result.output)}`) : result)),
    'the output is the last text of the child, not what it wrote on the way',
  ],
  [
    'ignores the signal once the child runs',
    broken(asSent, request => ({ ...request, signal: new AbortController().signal })),
    'an abort while the child works settles it aborted, and nothing of it goes on',
  ],
  [
    'leaves the child alive after dispose()',
    broken(run => ({ ...run, begin: () => run.begin?.(), dispose: async () => {} })),
    'dispose() after the end leaves the outcome as it was, and nothing behind',
  ],
  [
    'disposes only once',
    broken(run => {
      let disposed = false
      return {
        ...run,
        begin: () => run.begin?.(),
        async dispose() {
          if (disposed) throw new Error('disposed twice')
          disposed = true
          await run.dispose()
        },
      }
    }),
    'dispose() cancels what is left and is idempotent',
  ],
  [
    'lets the child ask its model before it is announced',
    broken(run => {
      run.begin?.()
      const rest = { ...run }
      delete rest.begin
      return { ...rest, result: run.result, dispose: () => run.dispose() }
    }),
    'a start that fulfils hands over a live child, announced before its first model request',
  ],
  [
    'leaves an agent behind when a start fails',
    class extends SmallProvider {
      override async start(request: ProviderStartRequest): Promise<ProviderRun> {
        if (request.agentOptions?.model !== undefined) this.agents.create({ parent: request.parent })
        return super.start(request)
      }
    },
    'a start that rejects leaves nothing behind and sends no event',
  ],
  [
    'accepts a persona and drops it',
    broken(asSent, request => ({ ...request, persona: undefined })),
    'a persona that the provider accepts reaches the child',
  ],
  [
    'accepts a tool filter and drops it',
    broken(asSent, request => ({ ...request, toolFilter: undefined })),
    'a tool filter that the provider accepts hides the tool, and refuses its execution',
  ],
  [
    'accepts an output schema and drops it',
    broken(asSent, request => ({ ...request, outputSchema: undefined })),
    'what a child hands over completes it, as it is and frozen, where it fits the schema',
  ],
  [
    'hands on as text alone what its child handed over',
    broken(mapResult(({ structured: _structured, ...result }) => result)),
    'what a child hands over completes it, as it is and frozen, where it fits the schema',
  ],
  [
    'calls it a success when nothing was handed over',
    broken(mapResult(result => result.stopReason === 'invalid-output' ? { ...result, stopReason: 'completed' } : result)),
    'a child with a schema that only writes text ends with invalid-output, never completed',
  ],
  [
    'hands on what does not fit the schema',
    broken(mapResult(result => result.stopReason === 'invalid-output' ? { ...result, stopReason: 'completed', structured: { fit: 'perhaps' } } : result)),
    'what does not fit the schema ends with invalid-output that says where, never completed',
  ],
  [
    'lets the tool filter hide what its child hands over with',
    broken(asSent, request => request.toolFilter ? { ...request, outputSchema: undefined } : request),
    'a tool filter does not keep a child from handing over',
  ],
  [
    'leaves a listener on the caller\'s signal',
    broken((run, { callerSignal }) => {
      callerSignal.addEventListener('abort', () => {})
      return run
    }),
    'a long-lived signal carries no listener once its children are gone',
  ],
  [
    'mixes up children that run at once',
    broken((run, request) => ({
      ...run, begin: () => run.begin?.(), dispose: () => run.dispose(),
      result: run.result.then(result => request.runId === 'run-2' ? ended('completed', 'marker 0 of eight') : result),
    })),
    'children at once keep their answers apart',
  ],
]

describe('the suite names the promise that a broken provider breaks', () => {
  it.each(cases)('%s', async (_what, Provider, promise) => {
    const failures = await checkProvider({
      provider: 'small',
      patienceMs: 300,
      mount: async ctx => { await ctx.plugin(pluginFor(agents => new Provider(agents))) },
    })
    expect(failures.map(({ title }) => title)).toContain(promise)
  }, 60_000)
})
