import type { TextBlock } from '@offshoot/session'
import type { ToolResult } from '@offshoot/tools'
import { textMessage } from './messages.ts'
import type { Call } from './reply.ts'
import type { AnswerTool, StructuredAnswer } from './types.ts'

/** What a step handed over with the answer tool. */
export interface HandedOver {
  readonly args: StructuredAnswer
  readonly fits: boolean
  /** The arguments as JSON. */
  readonly output: readonly TextBlock[]
}

/**
 * Holds one turn to its agent's answer tool: a call that fits is the answer, one that does not may be repaired once, and
 * ending without a call is answered once with a reminder.
 */
export class Answer {
  private readonly tool: AnswerTool
  private misfits = 0
  private reminded = false
  private wrong: string | undefined

  constructor(tool: AnswerTool) {
    this.tool = tool
  }

  /** Take a step's calls, all with their results. Answers the last that fits, else the last that does not. */
  take(calls: readonly Call[], results: readonly ToolResult[]): HandedOver | undefined {
    const made = calls.flatMap(({ name, args }, i) => name === this.tool.name ? [{ args, fits: !results[i]!.isError }] : [])
    const last = made.findLast(({ fits }) => fits) ?? made.at(-1)
    if (!last) return undefined
    const { args, fits } = last
    if (!fits) {
      this.misfits++
      this.wrong = args ? this.tool.whereWrong(args) : 'no JSON object'
    }
    return args && { args, fits, output: Object.freeze([Object.freeze({ type: 'text' as const, text: JSON.stringify(args) })]) }
  }

  /** Whether the one repair did not help. */
  get isSpent(): boolean {
    return this.misfits > 1
  }

  /** What to tell a model that ended without handing anything over; `undefined` for one that was told. */
  reminder(): ReturnType<typeof textMessage> | undefined {
    if (this.reminded) return undefined
    this.reminded = true
    return textMessage(`You ended without handing over your answer: text is not handed over. Call ${this.tool.name} now, with your complete answer.`)
  }

  /** Why there is no answer. */
  get diagnostic(): string {
    const { name } = this.tool
    return this.wrong === undefined ? `${name} was never called` : `${name} was called with what does not fit: ${this.wrong}`
  }
}
