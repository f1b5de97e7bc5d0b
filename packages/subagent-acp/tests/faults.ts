import type { SubagentResult } from '@offshoot/subagent'
import type { Input, Timeouts } from '../src/index.ts'
import { type FakeAgentMoment, fakeAgentPhases, fakeUsage } from '../src/testing.ts'
import type { TestAgent } from './support.ts'

/** What an agent does wrong, and what is right then. */
export interface Fault {
  readonly name: string
  readonly agent: TestAgent
  readonly config?: Omit<Partial<Input>, 'name' | 'timeouts'> & { readonly timeouts?: Partial<Timeouts> }
  /** The service's; so long that the rungs alone count where none is said. */
  readonly disposeGraceMs?: number
  /** No child comes to be: why, in the words of the failure. */
  readonly refused?: RegExp
  /** A child comes to be, and left alone it ends like this; `completed` with what it was asked where nothing else is said. */
  readonly ends?: { readonly stopReason: SubagentResult['stopReason'], readonly output?: string, readonly diagnostic?: RegExp, readonly usage?: object }
}

/** What the children of these tests are asked. */
export const task = 'Say hello.'

const soon = 700
/** Longer than its cancel may take: whoever is cancelled or disposed of first must not have been silent for too long before that is over. */
const idleTimeouts = { cancel: 200, idle: 900 }
/** Rungs that are short enough to be seen, and long enough for a busy machine. */
export const shortTimeouts = { cancel: 1000, close: 200, exit: 400, terminate: 400 }
/** Rungs of which a test waits for none. */
const longTimeouts = { cancel: 60_000, close: 60_000, exit: 60_000, terminate: 60_000 }

const starting = ['initialize', 'authenticate', 'session/new', 'set-mode', 'set-config'] as const
const phaseNames: Record<string, string> = { 'start': 'initialize', 'set-mode': 'mode', 'set-config': 'options' }
const named = (moment: string): string => phaseNames[moment] ?? moment

/** Asks for everything that a start can bring. */
const everything = {
  agent: { auth: ['key'], modes: ['plan', 'code'], configOptions: ['effort=low,high'] },
  config: { authMethod: 'key', mode: 'code', configOptions: { effort: 'high' } },
} as const satisfies Pick<Fault, 'agent' | 'config'>

/** The start hangs there. */
function hangs(moment: FakeAgentMoment): Fault {
  const timeouts = moment === 'start' || moment === 'initialize' ? { initialize: soon } : moment === 'authenticate' ? { authenticate: soon } : { session: soon }
  return {
    name: `hangs at ${moment}`, agent: { ...everything.agent, hang: moment }, config: { ...everything.config, timeouts: { ...shortTimeouts, ...timeouts } },
    refused: new RegExp(`${named(moment)}: no answer within ${soon} ms \\(process \\d+ still runs`),
  }
}

const startFaults: Fault[] = [
  ...(['start', ...starting] as const).flatMap((moment): Fault[] => [
    hangs(moment),
    { name: `exits at ${moment}`, agent: { ...everything.agent, crash: moment, crashCode: 3, stderr: ['the licence is over'] }, config: everything.config, refused: new RegExp(`${named(moment)}: the agent ended \\(exited with code 3;.*stderr: the licence is over`) },
    { name: `is killed at ${moment}`, agent: { ...everything.agent, crash: moment, crashSignal: 'SIGSEGV' }, config: everything.config, refused: new RegExp(`${named(moment)}: the agent ended \\(ended by SIGSEGV`) },
  ]),
  ...starting.map((phase): Fault => ({
    name: `answers ${phase} with an error`, agent: { ...everything.agent, error: phase, errorCode: -32603, errorMessage: 'no such thing' }, config: everything.config,
    refused: new RegExp(`${named(phase)}: the agent answered with error -32603: no such thing`),
  })),
  { name: 'wants a login', agent: { requiresAuth: true, auth: ['browser', 'key'] }, refused: /session\/new: the agent wants a login first: .*set authMethod to one of: browser, key/ },
  { name: 'has no such login', agent: { auth: ['browser'] }, config: { authMethod: 'key' }, refused: /no login method "key" \(it has: browser\)/ },
  { name: 'has no such mode', agent: { modes: ['plan', 'code'] }, config: { mode: 'cod' }, refused: /mode: the agent has no mode "cod"; did you mean "code"/ },
  { name: 'has no such option', agent: { configOptions: ['effort=low,high'] }, config: { configOptions: { effrt: 'high' } }, refused: /options: the agent has no option "effrt"; did you mean "effort"/ },
  { name: 'has no such value', agent: { configOptions: ['effort=low,high'] }, config: { configOptions: { effort: 'hihg' } }, refused: /options: its option "effort" cannot be "hihg"; did you mean "high"/ },
  { name: 'takes no MCP server over http', agent: {}, config: { mcpServers: [{ name: 'docs', type: 'http', url: 'http://127.0.0.1:1' }] }, refused: /the agent takes no MCP servers over http \("docs"\)/ },
  { name: 'speaks another version', agent: { protocolVersion: 2 }, refused: /initialize: the agent speaks version 2 of the protocol, and version 1 is needed/ },
  { name: 'says no version', agent: { omit: ['protocolVersion'] }, refused: /initialize: the agent speaks version none/ },
  { name: 'ends behind its answer to initialize', agent: { glue: 'unended', glueAt: 'initialize' }, refused: /session\/new: the agent ended \(exited with code 0/ },
  { name: 'hangs in its start, deaf to all, with processes of its own', agent: { hang: 'session/new', noExitOnEof: true, ignoreTerm: true, companions: ['stubborn', 'detached'] }, config: { timeouts: { ...shortTimeouts, session: soon } }, refused: /session\/new: no answer within/ },
  { name: 'is not there', agent: {}, config: { command: '/no/such/agent' }, refused: /the command "\/no\/such\/agent" could not be started: .*ENOENT.*; install it, or give its absolute path/ },
  { name: 'is a program that only waits', agent: {}, config: { command: 'sleep', args: ['600'], timeouts: { ...shortTimeouts, initialize: soon } }, refused: /initialize: no answer within 700 ms \(process \d+ still runs; never heard/ },
  { name: 'is a program that says back what it hears', agent: {}, config: { command: 'cat', args: [] }, refused: /initialize: the agent answered with error -32601/ },
  { name: 'is a program that ends', agent: {}, config: { command: 'false', args: [] }, refused: /initialize: the agent ended \(exited with code 1; never heard/ },
  { name: 'makes a session without an id', agent: { omit: ['sessionId'] }, refused: /session\/new: the agent made a session without an id/ },
]

const noiseFaults: Fault[] = [
  ...(['banner', 'noise'] as const).flatMap(where => (['text', 'ansi', 'osc', 'json', 'array', 'scalar'] as const).map((kind): Fault => ({ name: `writes ${kind} as ${where}`, agent: { [where]: [kind] } }))),
  { name: 'writes everything that is no message', agent: { banner: ['text', 'ansi', 'osc', 'json', 'array', 'scalar'], noise: ['text', 'ansi', 'osc', 'json', 'array', 'scalar'], glue: 'pair' } },
  ...fakeAgentPhases.filter(phase => phase === 'initialize' || phase === 'session/new' || phase === 'prompt').map((glueAt): Fault => ({ name: `writes half a line before its answer to ${glueAt}`, agent: { glue: 'noise', glueAt } })),
  { name: 'writes several messages on one line', agent: { glue: 'pair' } },
  { name: 'writes each message in pieces', agent: { glue: 'split' } },
  { name: 'ends without the last newline', agent: { glue: 'unended' } },
  { name: 'writes 200 chunks and the answer at once', agent: { behaviour: { kind: 'chunks', count: 200 } }, ends: { stopReason: 'completed', output: Array.from({ length: 200 }, (_, i) => `${i + 1} `).join('') } },
  { name: 'writes a line of 10 MB', agent: { behaviour: { kind: 'big', bytes: 10_000_000 } }, config: { maxOutputBytes: 11_000_000 }, ends: { stopReason: 'completed' } },
  { name: 'writes a line of 33 MB', agent: { behaviour: { kind: 'big', bytes: 34_000_000 } }, ends: { stopReason: 'error', diagnostic: /prompt: .*a message of more than 33554432 bytes/ } },
  { name: 'writes 1 MB to stderr first', agent: { stderrBytes: 1_000_000 } },
  { name: 'writes a word after its answer', agent: { lateUpdate: 20 } },
  { name: 'writes its only word after its answer', agent: { behaviour: { kind: 'silent' }, lateUpdate: 50 }, ends: { stopReason: 'completed', output: 'late' } },
]

const turnFaults: Fault[] = [
  { name: 'falls silent', agent: { hang: 'prompt' }, config: { timeouts: { ...shortTimeouts, ...idleTimeouts } }, ends: { stopReason: 'timeout', diagnostic: /prompt: cancelled: the child said nothing for 900 ms \(its provider's idle limit\) \(process \d+ still runs; last heard/ } },
  { name: 'falls silent in the middle of its answer', agent: { hang: 'mid-prompt' }, config: { timeouts: { ...shortTimeouts, ...idleTimeouts } }, ends: { stopReason: 'timeout', output: 'partial', diagnostic: /fell silent for 900 ms .*last heard .*\(agent_message_chunk\)/ } },
  { name: 'hangs after its answer', agent: { hang: 'after-prompt' } },
  { name: 'takes too long', agent: { behaviour: { kind: 'hang', everyMs: 50 } }, config: { timeouts: { ...shortTimeouts, total: soon } }, ends: { stopReason: 'timeout', diagnostic: /did not end within 700 ms \(timeoutMs\)/ } },
  { name: 'exits in the middle of its turn', agent: { crash: 'mid-prompt', crashCode: 9, stderr: ['out of memory, key sk-abcdefghijklmnop'] }, ends: { stopReason: 'error', diagnostic: /prompt: the agent ended \(exited with code 9; last heard .*agent_message_chunk.*out of memory, key \[redacted\]/ } },
  { name: 'is killed in the middle of its turn', agent: { crash: 'mid-prompt', crashSignal: 'SIGKILL' }, ends: { stopReason: 'error', diagnostic: /prompt: the agent ended \(ended by SIGKILL/ } },
  { name: 'exits before its answer', agent: { crash: 'prompt' }, ends: { stopReason: 'error', output: '', diagnostic: /prompt: the agent ended \(exited with code 1/ } },
  { name: 'is killed before its answer', agent: { crash: 'prompt', crashSignal: 'SIGABRT' }, ends: { stopReason: 'error', output: '', diagnostic: /prompt: the agent ended \(ended by SIGABRT/ } },
  { name: 'ends behind its answer to session/new', agent: { glue: 'unended', glueAt: 'session/new' }, ends: { stopReason: 'error', output: '', diagnostic: /prompt: the agent ended \(exited with code 0/ } },
  { name: 'answers the prompt at once with an error', agent: { error: 'prompt', errorMessage: 'no such model' }, ends: { stopReason: 'error', output: '', diagnostic: /prompt: the agent answered with error -32603: no such model/ } },
  { name: 'answers with an error in the middle', agent: { error: 'mid-prompt' }, ends: { stopReason: 'error', output: 'partial', diagnostic: /prompt: the agent answered with error -32603/ } },
  { name: 'exits after its answer', agent: { crash: 'after-prompt' } },
  { name: 'answers the prompt with an error', agent: { behaviour: { kind: 'fail', text: 'Half', message: 'the provider is down', code: 400 } }, ends: { stopReason: 'error', output: 'Half', diagnostic: /prompt: the agent answered with error 400: the provider is down/ } },
  { name: 'says nothing', agent: { behaviour: { kind: 'silent' } }, ends: { stopReason: 'empty-output', output: '', diagnostic: /prompt: the agent ended its turn without an answer/ } },
  { name: 'is cut by its token limit', agent: { behaviour: { kind: 'truncated', text: 'Half' } }, ends: { stopReason: 'max-tokens', output: 'Half' } },
  { name: 'declines', agent: { behaviour: { kind: 'refusal' } }, ends: { stopReason: 'refusal' } },
  { name: 'runs out of requests', agent: { behaviour: { kind: 'max-turn-requests' } }, ends: { stopReason: 'max-steps' } },
  { name: 'says that it was cancelled', agent: { stopReason: 'cancelled' }, ends: { stopReason: 'error', diagnostic: /says that it was cancelled, and nobody here did that/ } },
  { name: 'says that it was cancelled, over a refusal', agent: { permission: 'all', stopReason: 'cancelled' }, ends: { stopReason: 'error', diagnostic: /ended its turn over what it was refused \(execute ".*": permission: deny\)/ } },
  { name: 'says beside its answer that it failed', agent: { extras: ['system-error'] }, ends: { stopReason: 'error', diagnostic: /the agent says that its turn failed/ } },
  { name: 'gives an unknown stop reason', agent: { stopReason: 'bored' }, ends: { stopReason: 'error', diagnostic: /the stop reason "bored", which is not known/ } },
  { name: 'gives no stop reason', agent: { omit: ['stopReason'] }, ends: { stopReason: 'error', diagnostic: /no stop reason/ } },
  { name: 'works, and answers after its tools', agent: { behaviour: { kind: 'work', first: 'Let me look.', last: 'Found.' } }, ends: { stopReason: 'completed', output: 'Found.' } },
  { name: 'sends what nobody knows', agent: { extras: ['thought', 'user-message', 'plan', 'commands', 'session-info', 'unknown-update', 'unknown-content', 'no-content', 'no-update', 'other-session', 'vendor-notification', 'vendor-request', 'update-before-tool', 'null-fields', 'image'] } },
  { name: 'asks what it may do', agent: { permission: 'all' }, ends: { stopReason: 'completed', output: `permission: selected reject-once\n${task}` } },
  { name: 'asks, and waits for the answer also when it is cancelled', agent: { permission: 'all', cancelWaitsForPermission: true }, config: { permission: 'ask' }, ends: { stopReason: 'completed', output: `permission: selected reject-once\n${task}` } },
  { name: 'reports its tokens in the answer', agent: { usage: ['response'] }, ends: { stopReason: 'completed', usage: { inputTokens: fakeUsage.inputTokens + fakeUsage.cachedReadTokens + fakeUsage.cachedWriteTokens, outputTokens: fakeUsage.outputTokens } } },
  { name: 'reports its tokens in _meta', agent: { usage: ['quota'] }, ends: { stopReason: 'completed', usage: { inputTokens: fakeUsage.inputTokens, outputTokens: fakeUsage.outputTokens } } },
  { name: 'reports how full its context is, and no tokens', agent: { usage: ['update'] }, ends: { stopReason: 'completed', usage: { unreportedSteps: 1 } } },
  { name: 'reports zeros', agent: { usage: ['zeros'] }, ends: { stopReason: 'completed', usage: { unreportedSteps: 1 } } },
]

/** Waits for what it starts, and is no agent itself: as `npx` is none. */
const shell = ['/bin/sh', '-c', '"$@"; exit $?', 'sh'] as const

const endFaults: Fault[] = [
  ...(['end_turn', 'error', 'ignore', 'crash'] as const).map((onCancel): Fault => ({ name: `meets a cancel with ${onCancel}`, agent: { onCancel } })),
  { name: 'takes its time to be cancelled', agent: { onCancel: 'cancelled', cancelDelay: 100 } },
  { name: 'does not end with its input', agent: { noExitOnEof: true } },
  { name: 'does not end at SIGTERM', agent: { ignoreTerm: true } },
  { name: 'ends neither with its input nor at SIGTERM', agent: { noExitOnEof: true, ignoreTerm: true } },
  { name: 'hangs while its session is closed', agent: { capabilities: ['close'], hang: 'close' } },
  { name: 'exits while its session is closed', agent: { capabilities: ['close'], crash: 'close' } },
  { name: 'is killed while its session is closed', agent: { capabilities: ['close'], crash: 'close', crashSignal: 'SIGKILL' } },
  { name: 'answers with an error when its session is closed', agent: { capabilities: ['close'], error: 'close' } },
  // Each rung for itself: where it is not kept, or one that is not needed is waited for, the end comes too late.
  { name: 'ignores a cancel, and has little time for it', agent: { onCancel: 'ignore' }, config: { timeouts: { ...longTimeouts, cancel: 150 } } },
  { name: 'hangs while its session is closed, and has little time for it', agent: { capabilities: ['close'], hang: 'close' }, config: { timeouts: { ...longTimeouts, close: 150 } } },
  { name: 'does not end with its input, and has little time for it', agent: { noExitOnEof: true }, config: { timeouts: { ...longTimeouts, exit: 150 } } },
  { name: 'does not end at SIGTERM, and has little time for it', agent: { noExitOnEof: true, ignoreTerm: true }, config: { timeouts: { ...longTimeouts, exit: 150, terminate: 150 } } },
  { name: 'is deaf to all, and has more time than whoever disposes of it', agent: { onCancel: 'ignore', noExitOnEof: true, ignoreTerm: true, capabilities: ['close'], hang: 'close' }, config: { timeouts: { ...longTimeouts, cancel: 1500 } }, disposeGraceMs: 2000 },
  { name: 'is started by a shell', agent: { through: shell } },
  { name: 'is started by a shell, and deaf', agent: { through: shell, noExitOnEof: true, ignoreTerm: true } },
  ...(['group', 'detached', 'stubborn', 'holds-output'] as const).flatMap((companion): Fault[] => [
    { name: `leaves a process behind (${companion})`, agent: { companions: [companion] } },
    { name: `leaves a process behind (${companion}) as it crashes`, agent: { companions: [companion], crash: 'mid-prompt' }, ends: { stopReason: 'error', diagnostic: /prompt: the agent ended/ } },
    { name: `leaves a process behind (${companion}) as it crashes in its start`, agent: { companions: [companion], crash: 'session/new' }, refused: /session\/new: the agent ended/ },
  ]),
]

export const faults: readonly Fault[] = [...startFaults, ...noiseFaults, ...turnFaults, ...endFaults]

const situations = ['start', 'run', 'cancel', 'dispose', 'host exit'] as const
export type Situation = typeof situations[number]

/** Where the fault can show. A start that is refused has no run; and unless it hangs, no time in which something could happen to it. */
export function situationsOf({ refused, agent }: Fault): readonly Situation[] {
  if (!refused) return situations
  return agent.hang === undefined ? ['start'] : ['start', 'cancel', 'dispose', 'host exit']
}

/** What `npm test` tries: each mechanism once. How a host exits has tests of its own. */
export const sample: Readonly<Record<string, readonly Situation[]>> = {
  'hangs at initialize': ['start'],
  'hangs in its start, deaf to all, with processes of its own': ['cancel'],
  'exits at session/new': ['start'],
  'is killed at authenticate': ['start'],
  'answers set-mode with an error': ['start'],
  'wants a login': ['start'],
  'speaks another version': ['start'],
  'makes a session without an id': ['start'],
  'is a program that says back what it hears': ['start'],
  'writes everything that is no message': ['run'],
  'writes half a line before its answer to session/new': ['run'],
  'writes 200 chunks and the answer at once': ['run'],
  'writes a line of 33 MB': ['run'],
  'writes 1 MB to stderr first': ['run'],
  'writes its only word after its answer': ['run'],
  'falls silent': ['run'],
  'exits in the middle of its turn': ['run', 'dispose'],
  'answers the prompt with an error': ['run', 'cancel'],
  'gives no stop reason': ['run'],
  'sends what nobody knows': ['run'],
  'asks, and waits for the answer also when it is cancelled': ['cancel'],
  'ignores a cancel, and has little time for it': ['cancel'],
  'meets a cancel with end_turn': ['cancel'],
  'hangs while its session is closed, and has little time for it': ['dispose'],
  'ends neither with its input nor at SIGTERM': ['dispose'],
  'leaves a process behind (holds-output) as it crashes': ['run'],
  'is started by a shell, and deaf': ['dispose'],
}
