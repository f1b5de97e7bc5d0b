import { readFileSync } from 'node:fs'
import type { Flag } from './flag.ts'

/** What the fake agent does with a prompt that no fault keeps it from. */
export type Behaviour =
  /** Answer with the text of the prompt. */
  | { readonly kind: 'echo' }
  | { readonly kind: 'answer', readonly text: string }
  /** Write `first`, use a tool, end with `last`. */
  | { readonly kind: 'work', readonly first: string, readonly last: string }
  /**
   * Begin, and wait for `session/cancel`. It begins with a thought, with `text` or with a running tool of that title; with
   * `everyMs` it thinks aloud again and again.
   */
  | { readonly kind: 'hang', readonly text?: string, readonly tool?: string, readonly everyMs?: number }
  /** End the turn without a word. */
  | { readonly kind: 'silent' }
  /** Write `text`, then answer with a JSON-RPC error. */
  | { readonly kind: 'fail', readonly text: string, readonly message: string, readonly code?: number }
  /** Write `text`, and be cut by the token limit. */
  | { readonly kind: 'truncated', readonly text: string }
  | { readonly kind: 'refusal' }
  | { readonly kind: 'max-turn-requests' }
  /** Write the numbers from 1 to `count`, one chunk and one space each, and the response with them in one write. */
  | { readonly kind: 'chunks', readonly count: number }
  /** Write one chunk of that many bytes. */
  | { readonly kind: 'big', readonly bytes: number }
  /** Answer with a {@link Report} as JSON. */
  | { readonly kind: 'report' }

/** What the agent knows of how it was started. Of the environment it tells the names, and the values of `OFFSHOOT_*` alone. */
export interface Report {
  readonly cwd: string
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly environmentNames: readonly string[]
  /** The parameters of these requests as they came, `_meta` and all. */
  readonly initialize: unknown
  readonly session: unknown
  readonly prompt: unknown
}

/** Reads JSON, or the name alone of a kind that needs nothing else. */
export const behaviourFlag: Flag<Behaviour> = {
  value: 'JSON|KIND',
  help: 'what it does with a prompt; default echo',
  read(given) {
    const source = given.at(-1) ?? ''
    return source.startsWith('{') ? JSON.parse(source) as Behaviour : { kind: source } as Behaviour
  },
  write: behaviour => [JSON.stringify(behaviour)],
}

/** The behaviour in that file as it is now. */
export function behaviourIn(path: string): Behaviour {
  return JSON.parse(readFileSync(path, 'utf8')) as Behaviour
}
