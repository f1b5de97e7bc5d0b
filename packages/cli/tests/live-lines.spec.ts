import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import type { LiveNode } from '../src/live-line.ts'
import { liveLines } from '../src/live-lines.ts'

const usage = { inputTokens: 1234, outputTokens: 56, steps: 2, toolCalls: 1, durationMs: 0 }
const totalUsage = { ...usage, inputTokens: 34_567, outputTokens: 1234, steps: 9 }

function node(id: string, rest: Partial<LiveNode> = {}): LiveNode {
  return { id, doing: 'model', isQueued: false, step: 2, elapsedMs: 12_900, children: [], ...rest }
}

function main(...children: LiveNode[]): LiveNode {
  return node('main', { doing: 'runs research', usage, totalUsage, children })
}

const tree = main(
  node('run-1', {
    tool: 'research', label: 'count the packages', usage, totalUsage: usage,
    children: [node('run-4', { tool: 'read', label: 'the licence', doing: 'rate limit 12 s', elapsedMs: 185_000, usage })],
  }),
  node('run-2', { tool: 'research', label: 'look at docs', taskId: 'subagent-1', doing: 'waits: slot', step: 1 }),
  node('run-3', { tool: 'research', label: 'not yet', doing: 'queued', isQueued: true, step: undefined, elapsedMs: 0 }),
)

function shown(root: LiveNode, columns: number, rows = 24): string[] {
  return liveLines(root, { columns, rows })
}

describe('the live tree', () => {
  it('at 80 columns says who, what it does or why it waits, step, time and tokens: its own, of all below it', () => {
    expect(shown(tree, 80)).toEqual([
      'main runs research, step 2, 12 s, 1.2K of 34.6K in + 56 of 1.2K out',
      '├─ run-1 research "count the packages" model, step 2, 12 s, 1.2K in + 56 out',
      '│  └─ run-4 "the licence" rate limit 12 s, step 2, 3 min 5 s, 1.2K in + 56 out',
      '├─ run-2 research "look at docs" waits: slot, step 1, 12 s',
      '└─ run-3 research "not yet" queued, 0 s',
    ])
  })

  it('at 40 columns says the same in fewer words, and the tokens of all below', () => {
    expect(shown(tree, 40)).toEqual([
      'main runs research #2 12s 34.6K+1.2K',
      '├─ run-1 "count t…" model #2 12s 1.2K+56',
      '│  └─ run-4 rate limit 12 s #2 3m5s 1.2…',
      '├─ run-2 "look at d…" waits: slot #1 12s',
      '└─ run-3 "not yet" queued 0s',
    ])
  })

  it('at 20 columns shows who and what, and cuts the rest', () => {
    expect(shown(tree, 20)).toEqual([
      'main runs research …',
      '├─ run-1 model #2 1…',
      '│  └─ run-4 rate li…',
      '├─ run-2 waits: slo…',
      '└─ run-3 queued 0s',
    ])
  })

  it.each([80, 59, 40, 20, 3, 1])('takes no more than %i columns, whatever the labels', columns => {
    const labels = ['数える'.repeat(30), '👩‍👩‍👧‍👦'.repeat(30), 'é'.repeat(99), 'x'.repeat(500), 'a\nb\u001b[31mc\td']
    const lines = shown(main(...labels.map((label, i) => node(`run-${i}`, { tool: 'research', label, children: [node(`run-${i}0`, { label })] }))), columns)
    expect(lines).toHaveLength(11)
    for (const line of lines) {
      expect(stringWidth(line)).toBeLessThanOrEqual(columns)
      // oxlint-disable-next-line no-control-regex -- a label's escapes must not reach the terminal
      expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/)
    }
  })

  it('counts a wide character as two columns', () => {
    const [, line] = shown(main(node('run-1', { label: '数える人' })), 40)
    expect(line).toBe('└─ run-1 "数える人" model #2 12s')
    expect(shown(main(node('run-1', { label: '数える人' })), stringWidth(line!) - 1)[1]).toBe('└─ run-1 "数える…" model #2 12s')
  })

  it('of 100 children in 24 rows shows 21 and counts the rest: those that work come first', () => {
    const children = Array.from({ length: 100 }, (_, i) => node(`run-${i + 1}`, i % 10 < 9 ? { doing: 'queued', isQueued: true } : {}))
    const lines = shown(main(...children), 80)
    expect(lines).toHaveLength(23)
    expect(lines.filter(line => line.includes('model'))).toHaveLength(10)
    expect(lines.at(-1)).toBe('… and 79 more, queued')
    expect(lines.at(-2)).toMatch(/^└─ run-100 model/)
    expect(shown(main(...children.slice(0, 22)), 80)).toHaveLength(23)
    expect(shown(main(...children.slice(0, 22)), 80).at(-1)).toMatch(/^└─ run-22 /)
  })

  it('shows a child that works below those it belongs to', () => {
    const deep = node('run-1', { children: [node('run-2', { doing: 'queued', isQueued: true }), node('run-3', { children: [node('run-4')] })] })
    expect(shown(main(deep, node('run-5')), 80, 6).map(line => line.replace(/ model.*/, ''))).toEqual([
      'main runs research, step 2, 12 s, 1.2K of 34.6K in + 56 of 1.2K out', '└─ run-1', '   └─ run-3', '      └─ run-4', '… and 2 more, 1 of them queued',
    ])
  })

  it.each([[3, 2], [2, 1], [1, 0]])('in %i rows has %i lines', (rows, count) => {
    expect(shown(tree, 80, rows)).toHaveLength(count)
  })

  it('shows tokens that nobody knows as unknown, and none before the first request has ended', () => {
    const cost = (own: Partial<typeof usage> & { unreportedSteps?: number }, columns = 80) => shown(node('main', { usage: { steps: 2, toolCalls: 0, durationMs: 0, ...own } }), columns)[0]
    expect(cost({ steps: 0 })).toBe('main model, step 2, 12 s')
    expect(cost({ unreportedSteps: 2 })).toBe('main model, step 2, 12 s, ? tokens')
    expect(cost({ unreportedSteps: 2 }, 40)).toBe('main model #2 12s ?')
    expect(cost({ inputTokens: 5, outputTokens: 7, unreportedSteps: 1 })).toBe('main model, step 2, 12 s, 5 in + 7 out + ?')
    expect(cost({ inputTokens: 5, outputTokens: 7, unreportedSteps: 1 }, 40)).toBe('main model #2 12s 5+7+?')
    expect(cost({ inputTokens: 5, unreportedSteps: 2 })).toBe('main model, step 2, 12 s, 5 in + ? out + ?')
  })
})
