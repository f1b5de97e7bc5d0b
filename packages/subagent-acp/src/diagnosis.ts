import { scrub } from '@offshoot/model'
import type { AgentProcess } from './agent-process.ts'
import type { Connection } from './connection.ts'

const shortestSecret = 6
const shownStderr = 1500
const shownNoise = 200

/** Takes what the config holds in confidence out of a text. */
export class Redaction {
  private readonly secrets: readonly string[]

  /** @param values of variables, headers and the like: not all are secret, and none need be seen. */
  constructor(values: Iterable<string>) {
    this.secrets = [...new Set(values)].filter(value => value.length >= shortestSecret).sort((a, b) => b.length - a.length)
  }

  apply(text: string): string {
    let clean = text
    for (const secret of this.secrets) clean = clean.replaceAll(secret, '[redacted]')
    return scrub(clean)
  }
}

/** When an agent was last heard, and with what. */
export interface LastHeard {
  /** Milliseconds since the epoch. */
  readonly at: number
  /** The kind of its last update, where there was one. */
  readonly update: string | undefined
}

/** What is known of an agent that failed: how its process is, when it was last heard, what it wrote beside the protocol. In one line, redacted. */
export function diagnosis(process: AgentProcess, connection: Connection, last: LastHeard | undefined, redaction: Redaction, now: number = Date.now()): string {
  const { noise, noiseCount, problem } = connection
  const stderr = oneLine(process.stderr.text())
  const parts = [
    problem,
    process.describe(),
    last ? `last heard ${((now - last.at) / 1000).toFixed(1)} s before${last.update === undefined ? '' : ` (${last.update})`}` : 'never heard',
    stderr === '' ? 'nothing on stderr' : `stderr: ${stderr.length > shownStderr ? `…${stderr.slice(-shownStderr)}` : stderr}`,
    noiseCount === 0 ? undefined : `${noiseCount} ${noiseCount === 1 ? 'line' : 'lines'} on stdout that were no message, first: ${oneLine(noise[0]!).slice(0, shownNoise)}`,
  ]
  return redaction.apply(parts.filter(part => part !== undefined).join('; '))
}

// oxlint-disable-next-line no-control-regex -- these are what is to go
const escapes = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)|[@-Z\\-_])|[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g

function oneLine(text: string): string {
  return text.replaceAll(escapes, '').replace(/\s+/g, ' ').trim()
}
