import { setTimeout as pause } from 'node:timers/promises'
import type { Behaviour } from './behaviour.ts'
import { Refusal } from './faults.ts'
import type { Turn } from './turn.ts'

type Kind = Behaviour['kind']

type Behave<K extends Kind> = (turn: Turn, behaviour: Extract<Behaviour, { readonly kind: K }>) => Promise<string> | string

/** What each behaviour says and does; answers with its stop reason. */
const behaviours: { readonly [K in Kind]: Behave<K> } = {
  'echo'(turn) {
    turn.say(turn.promptText)
    return 'end_turn'
  },
  'answer'(turn, { text }) {
    turn.say(text)
    return 'end_turn'
  },
  'work'(turn, { first, last }) {
    turn.say(first)
    turn.update({ sessionUpdate: 'tool_call', toolCallId: 'work', title: 'Read notes.txt', kind: 'read', status: 'in_progress', rawInput: { path: 'notes.txt' } })
    turn.update({ sessionUpdate: 'tool_call_update', toolCallId: 'work', status: 'completed', content: [{ type: 'content', content: { type: 'text', text: 'noted' } }] })
    turn.say(last)
    return 'end_turn'
  },
  async 'hang'(turn, { text, tool, everyMs }) {
    if (text !== undefined) turn.say(text)
    if (tool !== undefined) turn.update({ sessionUpdate: 'tool_call', toolCallId: 'hang', title: tool, kind: 'execute', status: 'in_progress' })
    if (text === undefined && tool === undefined) turn.think('working')
    turn.underWay()
    if (everyMs === undefined) return new Promise(() => {})
    while (!turn.over) {
      await pause(everyMs)
      turn.think('still working')
    }
    return 'cancelled'
  },
  'silent': () => 'end_turn',
  'fail'(turn, { text, message, code = -32603 }) {
    turn.say(text)
    throw new Refusal(code, message)
  },
  'truncated'(turn, { text }) {
    turn.say(text)
    return 'max_tokens'
  },
  'refusal': () => 'refusal',
  'max-turn-requests': () => 'max_turn_requests',
  'chunks'(turn, { count }) {
    turn.cork()
    for (let i = 1; i <= count; i++) turn.say(`${i} `)
    return 'end_turn'
  },
  'big'(turn, { bytes }) {
    turn.say('x'.repeat(bytes))
    return 'end_turn'
  },
  'report'(turn) {
    turn.say(JSON.stringify(turn.report()))
    return 'end_turn'
  },
}

export async function behave(turn: Turn, behaviour: Behaviour): Promise<string> {
  const known = behaviours[behaviour.kind] as ((turn: Turn, behaviour: Behaviour) => Promise<string> | string) | undefined
  if (!known) throw new Refusal(-32602, `the fake agent has no behaviour "${behaviour.kind}" (known: ${Object.keys(behaviours).join(', ')})`)
  return known(turn, behaviour)
}
