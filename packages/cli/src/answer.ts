import type { Agent, TurnResult } from '@offshoot/agent'
import { textOf } from '@offshoot/session'
import type { Writer } from './io.ts'

/** The answer of a completed turn, as it goes to stdout. */
export function answerOf({ output }: TurnResult): string {
  return withNewline(textOf(output))
}

/**
 * Tell of each answer after which `agent` went on in the same turn, because there was news for it by then. The last one is
 * the turn's result.
 */
export function onEarlierAnswer(agent: Agent, tell: (text: string) => void): void {
  let text = ''
  agent.on(event => {
    if (event.type === 'text-delta') text += event.text
    else if (event.type === 'tool-start' || event.type === 'turn-end') text = ''
    else if (event.type === 'step-start') {
      if (text.trim() !== '') tell(withNewline(text))
      text = ''
    }
  })
}

/** Say why a turn is not completed; with `partial`, also what it had written. */
export function reportFailure({ stopReason, diagnostic, output }: TurnResult, partial: boolean, out: Writer): void {
  out.write(`offshoot: not completed (${stopReason})${diagnostic === undefined ? '' : `: ${diagnostic}`}\n`)
  const text = textOf(output)
  if (partial && text !== '') out.write(`what the agent had written so far, which is no answer:\n${withNewline(text)}`)
}

function withNewline(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`
}
