import z from 'schemastery'

/** What an agent may do when it asks: refuse, allow once, or ask through `ctx.approvals`. */
export type PermissionRule = 'deny' | 'allow-once' | 'ask'

/** The kinds of tool calls that the protocol knows. */
export const toolKinds = ['read', 'edit', 'delete', 'move', 'search', 'execute', 'think', 'fetch', 'switch_mode', 'other'] as const
export type ToolKind = typeof toolKinds[number]

/** A rule for each kind; `deny` where there is none. */
export type PermissionTable = Partial<Record<ToolKind, PermissionRule>>

export interface Timeouts {
  /** From the start of the program to its first answer. */
  initialize: number
  authenticate: number
  /** To make a session; also for each mode and option that is set. */
  session: number
  /** How long it may say nothing while no tool of it runs and nothing waits for a person. */
  idle: number
  /** How long it may take in all. Absent: no limit of its own. */
  total?: number
  /** How long it may take to end its turn after a cancel. */
  cancel: number
  /** To close its session. */
  close: number
  /** From the end of its input to SIGTERM. */
  exit: number
  /** From SIGTERM to SIGKILL. */
  terminate: number
}

export type McpServer =
  | { name: string, command: string, args?: string[], env?: Record<string, string> }
  | { name: string, type: 'http' | 'sse', url: string, headers?: Record<string, string> }

export interface Config {
  /** The name that tools and callers start this provider by. */
  name: string
  /** A program on the PATH, or an absolute path. */
  command: string
  args: string[]
  /** Variables to set in its environment. */
  env: Record<string, string>
  /** Variables of this process to pass on, beyond the few that every program needs. */
  inheritEnv: string[]
  /** Absolute; default: the parent's. */
  cwd?: string
  /** The agent's own login method to use, where it needs one. */
  authMethod?: string
  /** The mode to put each session into. */
  mode?: string
  /** Options to set in each session. */
  configOptions: Record<string, string | boolean>
  mcpServers: McpServer[]
  permission: PermissionRule | PermissionTable
  /** The agent is Offshoot and keeps to a depth limit; starts are refused where it is not. */
  depthLimit: boolean
  /** In milliseconds. */
  timeouts: Timeouts
  /** How much of an answer is kept. */
  maxOutputBytes: number
}

export interface Input extends Partial<Omit<Config, 'timeouts' | 'command'>> {
  command: string
  timeouts?: Partial<Timeouts>
}

const maxTimerMs = 2 ** 31 - 1

function ms(value: number, description: string): z<number> {
  return z.natural().min(1).max(maxTimerMs).default(value).description(`${description}, in ms.`)
}

const rule = z.union(['deny', 'allow-once', 'ask'] as const)

export const Config: z<Input, Config> = z.object({
  name: z.string().default('acp').description('The name that tools and callers start this provider by.'),
  command: z.string().required().description('A program on the PATH, or an absolute path.'),
  args: z.array(z.string()).default([]).description('Its arguments.'),
  env: z.dict(z.string()).default({}).description('Variables to set in its environment.'),
  inheritEnv: z.array(z.string()).default([]).description('Variables of this process to pass on, by name.'),
  cwd: z.string().description('Where it works; the parent\'s working directory.'),
  authMethod: z.string().description('Its own login method to use, where it needs one.'),
  mode: z.string().description('The mode to put each session into.'),
  configOptions: z.dict(z.union([z.string(), z.boolean()])).default({}).description('Options to set in each session.'),
  // Their shapes differ by type: checked by `checkConfig`.
  mcpServers: z.array(z.any()).default([]).description('MCP servers that it is to use.'),
  permission: z.union([rule, z.object(Object.fromEntries(toolKinds.map(kind => [kind, rule])))]).default('deny').description('What it may do when it asks.'),
  depthLimit: z.boolean().default(false).description('It is Offshoot, and keeps to a depth limit.'),
  timeouts: z.object({
    initialize: ms(30_000, 'To its first answer'),
    authenticate: ms(30_000, 'To log in'),
    session: ms(60_000, 'To make a session, and for each setting of it'),
    idle: ms(300_000, 'How long it may be silent'),
    total: z.natural().min(1).max(maxTimerMs).description('How long it may take in all, in ms.'),
    cancel: ms(5000, 'To end its turn after a cancel'),
    close: ms(2000, 'To close its session'),
    exit: ms(3000, 'From the end of its input to SIGTERM'),
    terminate: ms(2000, 'From SIGTERM to SIGKILL'),
  }),
  maxOutputBytes: z.natural().min(512).default(4 * 1024 * 1024).description('How much of an answer is kept, in bytes.'),
}) as z<Input, Config>
