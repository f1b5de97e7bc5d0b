import type { Agent } from '@offshoot/agent'
import { defineTool, type Tool, Type } from '@offshoot/tools'
import { worktreeBlock } from '@offshoot/worktree'
import type { FanoutCore } from './core.ts'
import { FanoutError } from './error.ts'
import { specOf } from './spec.ts'
import type { FanoutResult } from './types.ts'

export interface ToolNames {
  readonly spawnToolName: string
  readonly collectToolName: string
}

/** The tool that starts a child and answers with its id. */
export function spawnTool(core: FanoutCore, { spawnToolName, collectToolName }: ToolNames, hasWorktrees: boolean): Tool {
  const worktree = Type.Object({
    path: Type.String({ description: 'Where: a name that is not there yet.' }),
    branch: Type.Optional(Type.String({ description: 'A new branch to check out there. Default: none, the current commit alone.' })),
  }, { description: 'Give the child a git worktree of its own, made from your latest commit, so that what it changes meets nobody else\'s work. It stays after the child; whoever collects it reads what was changed.' })
  return defineTool({
    name: spawnToolName,
    description: `Start a child agent on a task of its own and go on at once: the answer is its id. Start as many as there are independent tasks, then collect each with ${collectToolName}. A child does not see this conversation.`,
    parameters: Type.Object({
      task: Type.String({ description: 'The task, complete: it is all that the child is told.' }),
      name: Type.Optional(Type.String({ description: 'A few words for people.' })),
      tool_scope: Type.Optional(Type.Array(Type.Unknown(), { description: 'Names of the tools that the child may use. Default, and where empty: all.' })),
      ...hasWorktrees ? { worktree: Type.Optional(worktree) } : {},
      session_id: Type.Optional(Type.String({ description: 'Recorded as the parent\'s session. Default: yours.' })),
    }),
    // Ids are given in the order of the calls.
    concurrency: 'exclusive',
    // What children do is judged in them.
    effect: 'read',
    async execute(args, { agent: caller, callId, signal }) {
      const parent = needCaller(spawnToolName, caller)
      return core.spawn(specOf(args), { parent, signal, tool: { name: spawnToolName, callId } })
    },
  })
}

/** The tool that waits for a child and answers with its summary. */
export function collectTool(core: FanoutCore, { spawnToolName, collectToolName }: ToolNames): Tool {
  return defineTool({
    name: collectToolName,
    description: `Wait for a child that ${spawnToolName} started, and read its final answer. Each child can be collected as often as you like, in any order.`,
    parameters: Type.Object({
      subagent_id: Type.String({ description: 'The id that starting it answered.' }),
      timeout_ms: Type.Optional(Type.Number({ minimum: 0, description: 'How long to wait, in milliseconds. Default: until it has ended.' })),
    }),
    concurrency: 'parallel',
    effect: 'read',
    async execute({ subagent_id: id, timeout_ms: timeoutMs }, { agent, signal }) {
      const result = await core.collect(id, { owner: needCaller(collectToolName, agent), signal, timeoutMs })
      if (!result.exitOk) throw new Error(reportOf(result))
      return reportOf(result)
    },
  })
}

/** What the parent's model reads of a child: its summary, and after it, of one that had a worktree, what is there. */
function reportOf({ summary, worktreePath: path, worktreeBranch: branch, changes, worktreeReleased: released = false }: FanoutResult): string {
  return path === undefined ? summary : `${summary}\n\n${worktreeBlock({ path, branch, changes, released })}`
}

function needCaller(tool: string, agent: Agent | undefined): Agent {
  if (!agent) throw new FanoutError('VALIDATION', `${tool} requires a calling agent (exec.agent was undefined)`)
  return agent
}
