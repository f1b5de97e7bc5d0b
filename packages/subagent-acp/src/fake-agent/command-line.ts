import type { Flag } from './flag.ts'
import { type FakeAgentOptions, type FlagName, flags } from './flags.ts'

const table: Readonly<Record<string, Flag<unknown> | undefined>> = flags

/** Every switch and option by its name on the command line. */
const byText = new Map((Object.keys(flags) as FlagName[]).map(name => [written(name), name]))

/** The arguments that say `options`. */
export function argumentsOf(options: FakeAgentOptions): string[] {
  return Object.entries(options).flatMap(([name, value]) => {
    if (value === undefined) return []
    const flag = table[name]
    if (!flag) throw new Error(`The fake agent has no option "${name}"${suggestion(name, Object.keys(flags))}`)
    return flag.write(value).map(text => flag.value === '' ? written(name) : `${written(name)}=${text}`)
  })
}

/** @throws an `Error` that names the argument and what would have worked. */
export function optionsFrom(argv: readonly string[]): FakeAgentOptions {
  const given = new Map<FlagName, string[]>()
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i]!
    const cut = argument.indexOf('=')
    const flagText = cut === -1 ? argument : argument.slice(0, cut)
    const name = byText.get(flagText)
    if (name === undefined) throw new Error(`unknown flag "${flagText}"${suggestion(flagText, [...byText.keys(), '--help'])}`)
    let text = cut === -1 ? undefined : argument.slice(cut + 1)
    if (text === undefined && flags[name].value !== '') text = argv[++i]
    if (text === undefined && flags[name].value !== '') throw new Error(`${flagText} needs ${flags[name].value}`)
    given.set(name, [...given.get(name) ?? [], text ?? 'true'])
  }
  return Object.fromEntries([...given].map(([name, texts]) => {
    try {
      return [name, flags[name].read(texts)]
    } catch (error) {
      throw new Error(`${written(name)}: ${(error as Error).message}`, { cause: error })
    }
  }))
}

export function help(): string {
  const lines = [...byText].map(([text, name]) => `  ${text}${flags[name].value && ` ${flags[name].value}`}\n      ${flags[name].help}`)
  return `A fake agent that speaks the Agent Client Protocol on stdio, and breaks it as told.\n\n${lines.join('\n')}\n`
}

function written(name: string): string {
  return `--${name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`
}

function suggestion(name: string, known: readonly string[]): string {
  const [near] = known
    .map(each => ({ each, edits: edits(name, each) }))
    .filter(({ edits: count }) => count <= Math.max(2, name.length / 3))
    .sort((a, b) => a.edits - b.edits)
  return near ? `; did you mean "${near.each}"?` : '; see --help'
}

/** Insertions, deletions and replacements between two names. */
function edits(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const above = row
    row = [i]
    for (let j = 1; j <= b.length; j++) row[j] = Math.min(above[j]! + 1, row[j - 1]! + 1, above[j - 1]! + Number(a[i - 1] !== b[j - 1]))
  }
  return row[b.length]!
}
