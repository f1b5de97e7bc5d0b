import { textOf } from '@offshoot/session'
import type { LanguageModel, ModelRequest } from '@offshoot/model'
import { type FakeModel, type FakeReply, fakeModel } from '@offshoot/model/testing'
import { answerToolName } from '../answer-tool.ts'

/** What the suite wants the next children to do. */
export type ChildBehaviour =
  /** Answer with the text of the task. */
  | { readonly kind: 'echo' }
  | { readonly kind: 'answer', readonly text: string }
  /** Write `first` while calling a tool that does not exist, then end with `last`. */
  | { readonly kind: 'work', readonly first: string, readonly last: string }
  /** Work until cancelled. */
  | { readonly kind: 'hang' }
  /** End by itself without ever writing anything. */
  | { readonly kind: 'silent' }
  /** Write `text`, then break with `message`. */
  | { readonly kind: 'fail', readonly text: string, readonly message: string }
  /** Write `text`, and be cut by the output token limit. */
  | { readonly kind: 'truncated', readonly text: string }
  | { readonly kind: 'refusal' }
  /** Hand over `value` as its structured output, whether it fits or not. Asked only of children that have a schema. */
  | { readonly kind: 'structured', readonly value: Readonly<Record<string, unknown>> }

/** How the suite makes children behave. Children in this process run on the suite's own model and need none. */
export interface ChildControl {
  behave(behaviour: ChildBehaviour): void | Promise<void>
  /** Settles when a child told to `hang` is at work. */
  underWay(): Promise<void>
}

/** Children in this process: the app's only model does what the suite wants. */
export class ModelControl implements ChildControl {
  readonly fake: FakeModel
  private behaviour: ChildBehaviour = { kind: 'echo' }
  private readonly onHang: (() => void)[] = []
  private hanging = 0

  constructor() {
    this.fake = fakeModel(request => this.reply(request))
  }

  get model(): LanguageModel {
    return this.fake
  }

  behave(behaviour: ChildBehaviour): void {
    this.behaviour = behaviour
  }

  underWay(): Promise<void> {
    if (this.hanging > 0) return Promise.resolve()
    return new Promise(resolve => { this.onHang.push(resolve) })
  }

  private reply(request: ModelRequest): FakeReply {
    const { behaviour } = this
    switch (behaviour.kind) {
      case 'echo':
        return { text: lastUserText(request) }
      case 'answer':
        return { text: behaviour.text }
      case 'work':
        return request.prompt.at(-1)?.role === 'tool'
          ? { text: behaviour.last }
          : { text: behaviour.first, calls: [{ name: 'no_such_tool' }] }
      case 'hang':
        this.hanging++
        for (const resolve of this.onHang.splice(0)) resolve()
        return { hold: new Promise(() => {}) }
      case 'silent':
        return {}
      case 'fail':
        return { text: behaviour.text, breaks: new Error(behaviour.message) }
      case 'truncated':
        return { text: behaviour.text, finish: 'length' }
      case 'refusal':
        return { finish: 'content-filter' }
      case 'structured':
        return request.tools?.some(({ name }) => name === answerToolName)
          ? { calls: [{ name: answerToolName, args: behaviour.value }] }
          : { text: 'There is nothing to hand it over with.' }
    }
  }
}

function lastUserText({ prompt }: ModelRequest): string {
  const message = prompt.findLast(each => each.role === 'user')
  return message?.role === 'user' ? textOf(message.content as Parameters<typeof textOf>[0]) : ''
}
