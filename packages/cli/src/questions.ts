import type { Agent } from '@offshoot/agent'
import type { Approval, ApprovalCore, Verdict } from '@offshoot/approvals'
import type { Writer } from './io.ts'
import type { RunLog } from './run-log.ts'
import { oneLine, plural } from './wording.ts'

const summaryWidth = 300
const labelWidth = 40

export interface QuestionsOptions {
  readonly approvals: ApprovalCore
  readonly root: Agent
  readonly log: RunLog
  readonly stderr: Writer
  /** A question is put: lines are answers from now on, until the returned function is called. */
  readonly listen: (prompt: string) => () => void
}

/** Puts what waits for an approval before the person at the terminal: one question at a time, the oldest first. */
export class Questions {
  private readonly options: QuestionsOptions
  private readonly leave: () => void
  private current: Approval | undefined
  private answering: Approval | undefined
  private stopListening: (() => void) | undefined

  constructor(options: QuestionsOptions) {
    this.options = options
    const { approvals, root } = options
    this.leave = approvals.attend({ asked: () => { this.next() }, settled: (approval, verdict) => { this.settled(approval, verdict) } }, root)
  }

  get isOpen(): boolean {
    return this.current !== undefined
  }

  /** A line that was typed while a question is open. What is no answer puts the question again. */
  answer(line: string): void {
    const approval = this.current
    if (!approval) return
    const [, word = '', words = ''] = /^\s*(\S*)\s*(.*?)\s*$/s.exec(line) ?? []
    this.answering = approval
    switch (word.toLowerCase()) {
      case 'y':
      case 'yes':
        if (words === '') approval.allow()
        break
      case 'a':
      case 'always':
        if (words === '') approval.allow({ always: true })
        break
      case 'n':
      case 'no':
        approval.deny(words)
        break
      default:
    }
    this.answering = undefined
    if (!approval.verdict) this.put(approval)
  }

  /** What waits, one a line. */
  list(): string {
    const { approvals, root } = this.options
    const waiting = approvals.list(root)
    return waiting.length === 0 ? 'nothing waits for an approval\n' : waiting.map(approval => `${this.describe(approval)}\n`).join('')
  }

  /** Nobody is here any more. Idempotent. */
  close(): void {
    this.current = undefined
    this.stopListening?.()
    this.stopListening = undefined
    this.leave()
  }

  private next(): void {
    if (this.current) return
    const [approval] = this.options.approvals.list(this.options.root)
    if (approval) this.put(approval)
  }

  private put(approval: Approval): void {
    this.current = approval
    this.stopListening?.()
    const { approvals, root, stderr } = this.options
    const others = approvals.list(root).length - 1
    stderr.write(`${this.describe(approval)}${others > 0 ? `   [${plural(others, 'more waits', 'more wait')}]` : ''}\n`)
    this.stopListening = this.options.listen(`allow? y yes · a always ${oneLine(approval.request.tool)} · n no · n <why> > `)
  }

  private settled(approval: Approval, verdict: Verdict): void {
    if (approval !== this.current) return
    this.current = undefined
    this.stopListening?.()
    this.stopListening = undefined
    if (approval !== this.answering) this.options.stderr.write(`${approval.id} needs no answer any more${verdict.allowed ? '' : `: ${oneLine(verdict.reason)}`}\n`)
    this.next()
  }

  private describe({ id, path, request: { agent, asker, tool, effect, summary } }: Approval): string {
    const name = this.options.log.nameOf(agent)
    const who = path.map(label => oneLine(label, labelWidth)).join(' › ')
    return `${id}  ${who}${asker === undefined && agent !== this.options.root ? ` (${name})` : ''} wants ${oneLine(tool)}${effect === undefined ? '' : ` (${effect})`}: ${oneLine(summary, summaryWidth) || 'no arguments'}`
  }
}
