/** One option of the fake agent: how it is written on a command line, and how it is read from there. */
export interface Flag<T> {
  /** What stands for its value in the help; empty for a switch. */
  readonly value: string
  readonly help: string
  /** The values with which it was given, in order. Throws an `Error` that says what would have worked. */
  read(given: readonly string[]): T
  write(value: T): readonly string[]
}

export type FlagValue<F> = F extends Flag<infer T> ? T : never

export function toggle(help: string): Flag<boolean> {
  return {
    value: '',
    help,
    read: given => given.at(-1) !== 'false',
    write: on => on ? ['true'] : [],
  }
}

export function text<T extends string = string>(value: string, help: string): Flag<T> {
  return { value, help, read: given => last(given) as T, write: given => [given] }
}

export function number(value: string, help: string): Flag<number> {
  return {
    value,
    help,
    read(given) {
      const digits = last(given)
      if (!/^-?\d+$/.test(digits)) throw new Error(`takes a whole number, not "${digits}"`)
      return Number(digits)
    },
    write: given => [`${given}`],
  }
}

export function choice<const T extends string>(value: string, choices: readonly T[], help: string): Flag<T> {
  return {
    value,
    help: `${help} (${choices.join(', ')})`,
    read: given => chosen(last(given), choices),
    write: given => [given],
  }
}

/** Any of `choices`: given several times, or once with commas between them. */
export function choicesOf<const T extends string>(value: string, choices: readonly T[], help: string): Flag<readonly T[]> {
  return {
    value: `${value}[,…]`,
    help: `${help} (${choices.join(', ')})`,
    read: given => given.flatMap(each => each.split(',')).map(each => chosen(each, choices)),
    write: given => given,
  }
}

/** Given once for each. */
export function texts<T extends string = string>(value: string, help: string): Flag<readonly T[]> {
  return { value, help: `${help}; may be repeated`, read: given => given as readonly T[], write: given => given }
}

function chosen<T extends string>(given: string, choices: readonly T[]): T {
  const found = choices.find(each => each === given)
  if (found === undefined) throw new Error(`takes one of ${choices.join(', ')}, not "${given}"`)
  return found
}

function last(given: readonly string[]): string {
  return given.at(-1) ?? ''
}
