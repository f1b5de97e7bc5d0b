#!/usr/bin/env node
import { FakeAgent } from './fake-agent/agent.ts'
import { help, optionsFrom } from './fake-agent/command-line.ts'
import { startCompanions } from './fake-agent/companions.ts'
import { Faults } from './fake-agent/faults.ts'
import type { FakeAgentOptions } from './fake-agent/flags.ts'
import { Journal } from './fake-agent/journal.ts'
import { writeStderr } from './fake-agent/stderr.ts'
import { Wire } from './fake-agent/wire.ts'

/** How long an agent lives that nothing ends: a test that fails may forget it. */
const longestLifeMs = 600_000

async function serve(options: FakeAgentOptions): Promise<void> {
  setTimeout(() => process.exit(1), longestLifeMs)
  const journal = new Journal(options.logFile)
  journal.write('start')
  if (options.logEnv) journal.write('env', Object.keys(process.env).sort())
  if (options.ignoreTerm) process.on('SIGTERM', () => { journal.write('sigterm') })
  await startCompanions(options.companions ?? [], journal)
  for (const line of options.stderr ?? []) writeStderr(`${line}\n`)
  if (options.stderrBytes !== undefined) writeStderr('e'.repeat(options.stderrBytes))
  const wire = new Wire(options, journal)
  await new Faults(options, journal).reach('start')
  const agent = new FakeAgent(options, wire, journal)
  wire.listen(message => { agent.receive(message) }, () => {
    journal.write('eof')
    if (!options.noExitOnEof) process.exit(0)
  })
}

if (process.argv.includes('--help')) {
  process.stdout.write(help())
} else {
  try {
    await serve(optionsFrom(process.argv.slice(2)))
  } catch (error) {
    writeStderr(`fake agent: ${(error as Error).message}\n`)
    process.exitCode = 2
  }
}
