import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { type ChildBehaviour, type ChildControl, describeProvider } from '../src/testing.ts'
import * as plugin from './function-provider.ts'
import { ended } from './small-provider.ts'

/** Children that do what the suite wants, without a model. */
class FunctionChildren implements ChildControl {
  private behaviour: ChildBehaviour = { kind: 'echo' }
  private hanging = 0
  private readonly onHang: (() => void)[] = []

  behave(behaviour: ChildBehaviour): void {
    this.behaviour = behaviour
  }

  underWay(): Promise<void> {
    if (this.hanging > 0) return Promise.resolve()
    return new Promise(resolve => { this.onHang.push(resolve) })
  }

  readonly work: plugin.Work = async (task, signal) => {
    const { behaviour } = this
    switch (behaviour.kind) {
      case 'echo': return ended('completed', task)
      case 'answer': return ended('completed', behaviour.text)
      case 'work': return ended('completed', behaviour.last)
      case 'silent': return ended('empty-output')
      case 'fail': return { ...ended('error', behaviour.text), diagnostic: behaviour.message }
      case 'truncated': return ended('max-tokens', behaviour.text)
      case 'refusal': return ended('refusal')
      case 'structured': return ended('completed', JSON.stringify(behaviour.value))
      case 'hang':
        this.hanging++
        for (const resolve of this.onHang.splice(0)) resolve()
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => { reject(signal.reason as Error) }, { once: true })
        })
    }
  }
}

const children = new FunctionChildren()

describeProvider('the provider of the README', {
  provider: 'function',
  children,
  mount: async ctx => { await ctx.plugin({ name: plugin.name, inject: plugin.inject, apply: plugin.apply }, { work: children.work }) },
  failingStart: { prompt: [{ type: 'text', text: 'A block.' }] },
})

it('is in the README as it is here', () => {
  const [readme, code] = ['../README.md', 'function-provider.ts'].map(file => readFileSync(new URL(file, import.meta.url), 'utf8'))
  expect(readme).toContain(`\`\`\`ts\n${code}\`\`\``)
})
