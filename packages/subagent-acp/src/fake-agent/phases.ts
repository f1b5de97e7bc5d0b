/** What a client asks of an agent, in the order in which it does, by the method that asks it. */
export const methods = {
  'initialize': 'initialize',
  'authenticate': 'authenticate',
  'session/new': 'session/new',
  'set-mode': 'session/set_mode',
  'set-config': 'session/set_config_option',
  'prompt': 'session/prompt',
  'close': 'session/close',
} as const

export type Phase = keyof typeof methods

export const phases = Object.keys(methods) as readonly Phase[]

/**
 * Where the fake agent can hang or crash: `start` is before it reads anything, a phase is before its answer,
 * `mid-prompt` is after some text, `after-prompt` is right behind the answer to a prompt.
 */
export const moments = ['start', ...phases, 'mid-prompt', 'after-prompt'] as const

export type Moment = typeof moments[number]
