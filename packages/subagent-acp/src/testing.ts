import { fileURLToPath } from 'node:url'
import { argumentsOf } from './fake-agent/command-line.ts'
import type { FakeAgentOptions } from './fake-agent/flags.ts'

export type { Behaviour as FakeAgentBehaviour, Report as FakeAgentReport } from './fake-agent/behaviour.ts'
export { flags as fakeAgentFlags, type FakeAgentFlags, type FakeAgentOptions } from './fake-agent/flags.ts'
export { FakeAgentFiles } from './fake-agent/files.ts'
export { FakeAgentLog, type FakeAgentLogLine } from './fake-agent/log.ts'
export { type Moment as FakeAgentMoment, moments as fakeAgentMoments, type Phase as FakeAgentPhase, phases as fakeAgentPhases } from './fake-agent/phases.ts'
export { fakeContext, fakeUsage } from './fake-agent/usage.ts'

/**
 * The command that starts an agent on stdio which speaks the Agent Client Protocol, answers with what it was asked, and goes
 * wrong as told. It ends when its stdin does, and at the latest after ten minutes.
 *
 * @throws an `Error` for an option that does not exist.
 */
export function fakeAgent(options: FakeAgentOptions = {}): { readonly command: string, readonly args: string[] } {
  return { command: process.execPath, args: [program, ...argumentsOf(options)] }
}

// Read from source, this module still starts the built program, which is the faster one to load.
const program = fileURLToPath(new URL('../lib/fake-agent.js', import.meta.url))
