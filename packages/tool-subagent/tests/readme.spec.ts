import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as toolSubagent from '../src/index.ts'
import { App, parentTask } from './support.ts'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

describe('the README', () => {
  it('says how large the tool is on the wire, for both wordings', async () => {
    const sizes: number[] = []
    for (const inheritsParentContext of [false, true]) {
      await using app = await App.start([{ provider: 'under-test' }])
      app.ctx.subagents.registerProvider({
        name: 'under-test', inheritsParentContext, capabilities: { outputSchema: false, depthLimit: false, toolFilter: false, persona: false },
        start: () => Promise.reject(new Error('not started here')),
      })
      await app.agent().run(parentTask)
      sizes.push(Buffer.byteLength(JSON.stringify(app.endpoint.requests[0]!.body.tools![0])))
    }
    expect(readme).toContain(`${sizes[0]} bytes of JSON for fresh children, ${sizes[1]} for inheriting ones`)
  })

  it('has each key of the config, with its default', () => {
    const rows = Array.from(readme.matchAll(/^\| `(\w+)` \| (.+?) \|/gm), ([, key, value]) => [key!, value!.replaceAll('`', '')])
    const defaults: Record<string, unknown> = { ...toolSubagent.Config({ provider: 'required' }) }
    expect(rows.map(([key]) => key)).toEqual(Object.keys(toolSubagent.Config.dict!))
    expect(rows).toEqual(rows.map(([key]) => [key, defaults[key!] ?? '–']))
  })
})
