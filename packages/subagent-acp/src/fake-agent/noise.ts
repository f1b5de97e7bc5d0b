/** What a program writes to stdout beside its protocol. */
export const noise = {
  text: 'Loading 3 extensions...\nDatabase migrated.',
  ansi: '\u001b[2K\u001b[1G\u001b[33mupdate available\u001b[39m',
  osc: '\u001b]0;fake agent\u0007\u001b]8;;https://example.com\u001b\\link\u001b]8;;\u001b\\',
  json: '{"level":30,"msg":"listening"}',
  array: '[1,2,3]',
  scalar: '"ready"',
} as const

export type Noise = keyof typeof noise

export const noises = Object.keys(noise) as readonly Noise[]

/** The beginning of a line that nobody finishes: neither its brace nor its quote is closed. */
export const halfLine = 'warning: {"msg":"1 of 3 exten'
