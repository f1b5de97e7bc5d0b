import type { Entry } from './entry.ts'
import type { Findings } from './findings.ts'
import { readEntries } from './shape.ts'
import { Source } from './source.ts'

/** The entries of a config file, as far as their shape allows; what is wrong with the others goes to `findings`. */
export function parse(text: string, findings: Findings): Entry[] {
  const source = new Source(text)
  const fault = source.fault()
  if (!fault) return readEntries(source, findings)
  findings.addAt(fault.at, fault.message)
  return []
}
