import { behaviourFlag } from './behaviour.ts'
import { companionNames } from './companions.ts'
import { extraNames } from './extras.ts'
import { choice, choicesOf, type FlagValue, number, text, texts, toggle } from './flag.ts'
import { noises } from './noise.ts'
import { permissionSets } from './permission.ts'
import { type Moment, moments, phases } from './phases.ts'
import { usagePlaces } from './usage.ts'

/** Everything the fake agent can be told. The command line, its help and the type of the options follow from this table. */
export const flags = {
  // What it does when nothing is wrong.
  behaviour: behaviourFlag,
  behaviourFile: text('PATH', 'read the behaviour as JSON from that file, anew at each prompt; before it is there, --behaviour holds'),
  logFile: text('PATH', 'append a line for each thing that happens'),
  logEnv: toggle('log the names of its environment'),
  capabilities: choicesOf('CAPABILITY', ['image', 'audio', 'embedded-context', 'load', 'close'], 'what it advertises'),
  modes: texts('ID', 'a mode of its sessions; the first is the current one'),
  configOptions: texts('ID[=VALUE,…]', 'a config option: a choice of which the first is the current one, without values a boolean'),
  auth: texts('METHOD', 'an authentication method'),
  requiresAuth: toggle('session/new answers -32000 until it is authenticated'),
  usage: choicesOf('WHERE', usagePlaces, 'where it reports tokens: PromptResponse.usage, _meta.quota, usage_update, or zeros in the first'),

  // Where it goes wrong.
  hang: choice('MOMENT', moments, 'never goes on from there, not even when cancelled'),
  crash: choice('MOMENT', moments, 'ends there'),
  crashCode: number('CODE', 'exit code of a crash; default 1'),
  crashSignal: text<NodeJS.Signals>('SIGNAL', 'crash by that signal'),
  error: choice('PHASE', [...phases, 'mid-prompt'], 'answers with a JSON-RPC error'),
  errorCode: number('CODE', 'its code; default -32603, authentication required is -32000'),
  errorMessage: text('TEXT', 'its message'),
  delay: texts<`${Moment}:${number}`>('MOMENT:MS', 'waits there before it goes on'),

  // How it writes.
  banner: choicesOf('NOISE', noises, 'written to stdout before anything'),
  noise: choicesOf('NOISE', noises, 'written to stdout before each message'),
  glue: choice('HOW', ['noise', 'pair', 'split', 'unended'],
    'half a line of noise before the answer of --glue-at, notifications on one line with what follows, every message in many writes, no newline behind the answer of --glue-at and exit'),
  glueAt: choice('PHASE', phases, 'default prompt'),
  stderr: texts('LINE', 'written to stderr at the start'),
  stderrBytes: number('BYTES', 'that much on stderr before it reads anything'),

  // What it says.
  extras: choicesOf('EXTRA', extraNames, 'updates before the answer'),
  lateUpdate: number('MS', 'one more chunk of text, "late", so long after the response'),
  protocolVersion: number('VERSION', 'that it answers to initialize; default 1'),
  stopReason: text('REASON', 'whatever really stopped it'),
  omit: choicesOf('FIELD', ['protocolVersion', 'sessionId', 'stopReason'], 'left out of the answers'),

  // Permissions: asked before it behaves; the outcome is the first line of its answer.
  permission: choice('SET', permissionSets, 'ask, and offer these options'),
  permissionKind: text('KIND', 'kind of the tool that it asks for; default execute'),
  permissionCount: number('N', 'so many at once'),
  permissionSession: text('ID', 'ask for that session instead of the own'),

  // How it ends.
  onCancel: choice('HOW', ['cancelled', 'end_turn', 'error', 'ignore', 'crash'], 'what it makes of session/cancel; default cancelled'),
  cancelDelay: number('MS', 'how long that takes it'),
  cancelWaitsForPermission: toggle('does not end a cancelled turn before its permission request is answered'),
  noExitOnEof: toggle('stays when stdin ends, for ten minutes'),
  ignoreTerm: toggle('stays on SIGTERM'),
  companions: choicesOf('KIND', companionNames, 'processes that it starts before anything and leaves behind; each ends by itself after ten minutes'),
} as const

export type FakeAgentFlags = typeof flags

export type FlagName = keyof FakeAgentFlags

/** See `flags` for each; all can be combined. */
export type FakeAgentOptions = { readonly [Name in FlagName]?: FlagValue<FakeAgentFlags[Name]> | undefined }
