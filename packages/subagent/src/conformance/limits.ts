import { defineTool, Type } from '@offshoot/tools'
import assert from 'node:assert/strict'
import { SubagentError } from '../error.ts'
import type { SubagentStartRequest } from '../types.ts'
import type { ConformanceApp } from './app.ts'
import type { ProviderPromise } from './promises.ts'
import { verdict } from './structured.ts'

/** Capabilities, depth and lineage: design promises 6 and 10. */
export const limits: ProviderPromise[] = [
  {
    title: 'what the provider cannot do is refused before it is called',
    async check(app) {
      const { capabilities } = app.provider
      const wanted: [boolean, Partial<SubagentStartRequest>][] = [
        [capabilities.persona, { persona: 'You are terse.' }],
        [capabilities.toolFilter, { toolFilter: { allow: [] } }],
        [capabilities.depthLimit, { maxDepth: 2 }],
        [capabilities.outputSchema, { outputSchema: verdict }],
      ]
      for (const [able, overrides] of wanted) {
        await app.children.behave(overrides.outputSchema ? { kind: 'structured', value: { fit: true } } : { kind: 'echo' })
        if (able) assert.equal((await app.runToEnd(overrides)).stopReason, 'completed')
        else await assert.rejects(app.start(overrides), { code: 'UNSUPPORTED_CAPABILITY' })
      }
      await app.assertNothingLeft()
    },
  },
  {
    title: 'a persona that the provider accepts reaches the child',
    async check(app) {
      if (!app.provider.capabilities.persona || app.harness.children) return
      await app.runToEnd({ persona: 'You are a heron.' })
      const system = app.model.fake.requests.at(-1)?.prompt[0]
      assert.ok(system?.role === 'system' && system.content.includes('You are a heron.'), 'the child was not told its persona')
    },
  },
  {
    title: 'a tool filter that the provider accepts hides the tool, and refuses its execution',
    async check(app) {
      if (!app.provider.capabilities.toolFilter || app.harness.children) return
      let executed = 0
      app.ctx.tools.register(defineTool({
        name: 'no_such_tool', description: 'Counts.', parameters: Type.Object({}),
        execute: () => `executed ${++executed} times`,
      }))
      await app.children.behave({ kind: 'work', first: 'Trying.', last: 'Gave up.' })
      await app.runToEnd({ toolFilter: { deny: ['no_such_tool'] } })
      const names = app.model.fake.requests.at(-1)?.tools?.map(({ name }) => name) ?? []
      assert.ok(!names.includes('no_such_tool'), 'the child was shown a filtered tool')
      assert.equal(executed, 0, 'a filtered tool was executed')
    },
  },
  {
    title: 'a child is one deeper than its parent, and names the parent\'s session',
    async check(app) {
      const run = await app.start()
      const [event] = app.eventsOf(run.id)
      assert.equal(event?.info.depth, app.parent.depth + 1)
      assert.equal(event.info.parentSessionId, app.parent.session.id)
      assert.equal(event.info.provider, app.harness.provider)
      if (run.agent) {
        assert.equal(run.agent.parent, app.parent)
        assert.equal(run.agent.depth, app.parent.depth + 1)
        assert.equal(event.info.sessionId, run.agent.session.id)
      }
      await app.resultOf(run)
      await run.dispose()
    },
  },
  {
    title: 'a child beyond the depth limit is refused, by the service\'s limit and by a stricter request',
    async check(app) {
      const parents = deepParents(app)
      await assert.rejects(app.start({ parent: parents[3]! }), depthLimit)
      assert.equal((await app.runToEnd({ parent: parents[2]! })).stopReason, 'completed')
      if (!app.provider.capabilities.depthLimit) return
      await assert.rejects(app.start({ maxDepth: 0 }), depthLimit)
      await assert.rejects(app.start({ parent: parents[1]!, maxDepth: 1 }), depthLimit)
      await assert.rejects(app.start({ parent: parents[3]!, maxDepth: 9 }), depthLimit)
    },
  },
]

/** Agents at depth 0 to 3. */
function deepParents(app: ConformanceApp): ConformanceApp['parent'][] {
  const parents = [app.parent]
  while (parents.length < 4) parents.push(app.ctx.agents.create({ parent: parents.at(-1)! }))
  return parents
}

function depthLimit(error: unknown): boolean {
  assert.ok(error instanceof SubagentError && error.code === 'DEPTH_LIMIT', `expected DEPTH_LIMIT, got ${String(error)}`)
  return true
}
