import type { TurnResult } from '@offshoot/agent'
import { textOf } from '@offshoot/session'
import type { Writer } from './io.ts'

/** The answer of a completed turn, as it goes to stdout. */
export function answerOf({ output }: TurnResult): string {
  return withNewline(textOf(output))
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
