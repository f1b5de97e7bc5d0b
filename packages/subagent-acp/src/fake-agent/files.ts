import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Behaviour } from './behaviour.ts'
import { FakeAgentLog } from './log.ts'

/**
 * A folder through which a test tells fake agents that run, or that a provider will start, what to do, and sees what they did. As
 * `children` it serves the conformance suite of providers.
 */
export class FakeAgentFiles {
  readonly folder: string
  readonly log: FakeAgentLog
  /** What `fakeAgent()` must be told for that. */
  readonly options: { readonly behaviourFile: string, readonly logFile: string }
  private hungBefore = 0

  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'offshoot-fake-agent-'))
    this.options = { behaviourFile: join(this.folder, 'behaviour.json'), logFile: join(this.folder, 'log') }
    this.log = new FakeAgentLog(this.options.logFile)
  }

  /** What they do with the next prompts. */
  behave(behaviour: Behaviour | { readonly kind: 'structured' }): void {
    this.hungBefore = this.log.lines('under-way').length
    // Renamed into place: an agent may be reading it.
    const next = `${this.options.behaviourFile}.next`
    writeFileSync(next, JSON.stringify(behaviour))
    renameSync(next, this.options.behaviourFile)
  }

  /** Settles when one that was told to `hang` is at work. */
  async underWay(): Promise<void> {
    await this.log.waitFor('under-way', { count: this.hungBefore + 1 })
  }

  /** Removes the folder. Agents that still run go on without it. */
  dispose(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}
