/** A place in the config file, both counted from 1. */
export interface Position {
  readonly line: number
  readonly col: number
}

/** One item of the config file, checked for shape and not yet evaluated. */
export interface Entry {
  readonly id: string
  /** Whether the file gives the id; else it was made up from the name. */
  readonly hasOwnId: boolean
  readonly name: string
  readonly at: Position
  /** May hold `JsExpression`s, as may `disabled`. */
  readonly config: unknown
  readonly disabled: unknown
  /** The entries of a group. */
  readonly children?: readonly Entry[]
  readonly inject: Readonly<Record<string, unknown>>
  readonly isolate: Readonly<Record<string, true | string>>
  readonly intercept: Readonly<Record<string, unknown>>
}

export const ENTRY_KEYS = [
  'id', 'name', 'config', 'group', 'disabled', 'inject', 'isolate', 'intercept', 'label', 'collapsed',
] as const

export type EntryKey = typeof ENTRY_KEYS[number]

export function labelEntry(entry: Entry): string {
  return `entry ${JSON.stringify(entry.id)} (${entry.name})`
}
