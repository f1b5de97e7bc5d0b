import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { type Behaviour, behaviourIn, type Report } from './behaviour.ts'
import { behave } from './behaviours.ts'
import { extras, type Voice } from './extras.ts'
import { type Faults, Refusal } from './faults.ts'
import type { FakeAgentOptions } from './flags.ts'
import type { Journal } from './journal.ts'
import { allows, outcomeText, permissionOptions } from './permission.ts'
import { fakeContext, usageFields } from './usage.ts'
import type { Answer, Wire } from './wire.ts'

/** What a turn needs of the agent that runs it. */
export interface TurnSetup {
  readonly sessionId: string
  readonly options: FakeAgentOptions
  readonly wire: Wire
  readonly journal: Journal
  readonly faults: Faults
  /** The parameters of the requests that led here. */
  readonly initialize: unknown
  readonly session: unknown
  readonly prompt: Readonly<Record<string, unknown>>
}

interface TextBlock {
  readonly type: string
  readonly text?: string
}

/** One prompt, from its request to its answer. */
export class Turn implements Voice {
  readonly sessionId: string
  private readonly setup: TurnSetup
  private readonly permissions: Promise<string>[] = []
  /** Answered; nothing more is written for it. */
  over = false
  private onCancel: (() => void) | undefined

  constructor(setup: TurnSetup) {
    this.setup = setup
    this.sessionId = setup.sessionId
  }

  get promptText(): string {
    return (this.setup.prompt['prompt'] as readonly TextBlock[]).map(({ text }) => text ?? '').join('')
  }

  /** The result of `session/prompt`. Rejects with a {@link Refusal} where that is an error. */
  async run(): Promise<object> {
    const { options } = this.setup
    try {
      const stopReason = await Promise.race([this.work(), this.cancellation()])
      return {
        ...!options.omit?.includes('stopReason') && { stopReason: options.stopReason ?? stopReason },
        ...usageFields(options.usage ?? []),
      }
    } finally {
      this.over = true
    }
  }

  cancel(): void {
    this.onCancel?.()
  }

  say(text: string): void {
    this.update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } })
  }

  think(text: string): void {
    this.update({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text } })
  }

  update(update: Readonly<Record<string, unknown>>): void {
    this.notify('session/update', { sessionId: this.sessionId, update })
  }

  notify(method: string, params: unknown): void {
    if (!this.over) this.setup.wire.notify(method, params)
  }

  async ask(method: string, params: unknown): Promise<Answer> {
    this.setup.journal.write('asked', method)
    const answer = await this.setup.wire.request(method, params)
    this.setup.journal.write('answered', answer)
    return answer
  }

  cork(): void {
    this.setup.wire.cork()
  }

  underWay(): void {
    this.setup.journal.write('under-way')
  }

  report(): Report {
    const { initialize, session, prompt } = this.setup
    const own = Object.entries(process.env).flatMap(([name, value]) => name.startsWith('OFFSHOOT_') ? [[name, value ?? '']] : [])
    return {
      cwd: process.cwd(),
      argv: process.argv.slice(2),
      env: Object.fromEntries(own) as Record<string, string>,
      environmentNames: Object.keys(process.env).sort(),
      initialize,
      session,
      prompt,
    }
  }

  private async work(): Promise<string> {
    const { options, faults } = this.setup
    for (const extra of options.extras ?? []) await extras[extra](this)
    if (options.usage?.includes('update')) this.update({ sessionUpdate: 'usage_update', ...fakeContext })
    if ([options.crash, options.hang, options.error].includes('mid-prompt')) this.say('partial')
    await faults.reach('mid-prompt')
    if (options.permission !== undefined) await this.askPermissions()
    return behave(this, this.behaviour())
  }

  private behaviour(): Behaviour {
    const { behaviourFile, behaviour = { kind: 'echo' } } = this.setup.options
    return behaviourFile !== undefined && existsSync(behaviourFile) ? behaviourIn(behaviourFile) : behaviour
  }

  private async askPermissions(): Promise<void> {
    const count = this.setup.options.permissionCount ?? 1
    for (let i = 1; i <= count; i++) this.permissions.push(this.askPermission(`call-${i}`))
    const outcomes = await Promise.all(this.permissions)
    this.say(outcomes.map(outcome => `${outcome}\n`).join(''))
  }

  private async askPermission(toolCallId: string): Promise<string> {
    const { permission = 'all', permissionKind: kind = 'execute', permissionSession = this.sessionId } = this.setup.options
    const toolCall = { toolCallId, title: `Run ${toolCallId}`, kind, rawInput: { command: 'true' } }
    this.update({ sessionUpdate: 'tool_call', ...toolCall, status: 'pending' })
    this.setup.journal.write('permission-asked', toolCallId)
    const answer = await this.setup.wire.request('session/request_permission', {
      sessionId: permissionSession,
      toolCall,
      options: permissionOptions[permission],
    })
    this.setup.journal.write('permission', answer.error ?? answer.result)
    this.update({ sessionUpdate: 'tool_call_update', toolCallId, status: allows(answer, permission) ? 'completed' : 'failed' })
    return outcomeText(answer)
  }

  /** Settles with the stop reason of a turn that was cancelled. */
  private async cancellation(): Promise<string> {
    const { onCancel = 'cancelled', cancelDelay, cancelWaitsForPermission, hang } = this.setup.options
    await new Promise<void>(resolve => { this.onCancel = resolve })
    if (onCancel === 'crash') return this.setup.faults.crash()
    if (onCancel === 'ignore' || hang === 'mid-prompt') return new Promise(() => {})
    if (cancelDelay !== undefined) await pause(cancelDelay)
    if (cancelWaitsForPermission) await Promise.all(this.permissions)
    if (onCancel === 'error') throw new Refusal(-32603, 'AbortError: This operation was aborted')
    return onCancel
  }
}
