import type { CappedOutput } from '@offshoot/tools'
import { cancelled, Command, type CommandEnd, type CommandOptions } from './command.ts'

/** The commands under way, so that none outlives the plugin, or the process. */
export class Commands {
  private readonly running = new Set<Command>()
  private disposed = false

  /** Run a command. Settles when nothing of its group lives. */
  async run(options: CommandOptions, output: CappedOutput): Promise<CommandEnd> {
    if (this.disposed || options.signal?.aborted) throw cancelled()
    const command = new Command(options, output)
    this.running.add(command)
    try {
      return await command.end
    } finally {
      this.running.delete(command)
    }
  }

  /** End every command, and wait until nothing of them lives. No other one starts. */
  async dispose(): Promise<void> {
    this.disposed = true
    for (const command of this.running) command.cancel()
    await Promise.allSettled([...this.running].map(command => command.end))
  }

  /** SIGKILL every command, without waiting. */
  kill(): void {
    for (const command of this.running) command.kill()
  }
}
