import type {} from '@offshoot/agent'
import type { SubagentCore, SubagentProvider, SubagentRun, SubagentStartRequest } from '@offshoot/subagent'
import type { TaskCore } from '@offshoot/tasks'
import { capText, defineTool, type SpillStore, type Tool, type ToolOutput, Type } from '@offshoot/tools'
import type { WorktreeCore } from '@offshoot/worktree'
import { startInBackground } from './background.ts'
import type { Config } from './index.ts'
import { type Isolation, isolate } from './isolation.ts'
import { cancelledError, type PartialOutput, renderResult, startFailure } from './render.ts'
import { backgroundDescription, backgroundParameter, isolationDescription, labelDescription, wordingFor } from './wording.ts'

const neverAborts = new AbortController().signal

export interface ToolParts {
  readonly subagents: SubagentCore
  readonly provider: SubagentProvider
  readonly background: TaskCore | undefined
  /** There where children are to be isolated. */
  readonly worktrees: WorktreeCore | undefined
  readonly spills: SpillStore
}

/** The tool that hands a task to `provider`, and answers with the child's final text; over `background` also without waiting for it. */
export function delegationTool({ subagents, provider, background, worktrees, spills }: ToolParts, config: Config): Tool {
  const { toolName: name, agentOptions, persona, toolFilter, maxDepth, outputSchema, timeoutMs, concurrency, partialOutput, maxOutputBytes } = config
  const wording = wordingFor(provider)
  const parameters = {
    description: Type.String({ description: labelDescription }),
    prompt: Type.String({ description: wording.prompt }),
  }
  return defineTool({
    name,
    description: wording.description + (worktrees ? isolationDescription : '') + (background ? backgroundDescription : ''),
    parameters: background
      ? Type.Object({ ...parameters, run_in_background: Type.Optional(Type.Boolean({ description: backgroundParameter })) })
      : Type.Object(parameters),
    concurrency,
    // What its children do is judged in them.
    effect: 'read',
    maxOutputBytes,
    async execute(args: Arguments, { agent, callId, signal = neverAborts }) {
      const { description, prompt, run_in_background: inBackground = false } = args
      if (!agent) throw new Error('subagent tool requires a calling agent (exec.agent was undefined)')
      if (description.trim() === '') throw new Error('"description" must not be blank; say in a few words what the task is')
      if (prompt.trim() === '') throw new Error('"prompt" must not be blank; it is all that the subagent is told')
      const request = { prompt, parent: agent, label: description, tool: { name, callId }, agentOptions, persona, toolFilter, maxDepth, outputSchema, timeoutMs }
      // A model may send what the schema does not offer.
      if (!inBackground) return runToEnd(subagents, provider.name, { ...request, signal }, partialOutput, worktrees)
      if (!background) throw new Error(`${whyNotInBackground(config)}; call "${name}" without run_in_background`)
      if (signal.aborted) throw cancelledError(signal.reason)
      const capped = (text: string): string => maxOutputBytes === undefined ? text : capText(text, maxOutputBytes, spills, agent.tools.readsSpills)
      const task = startInBackground(background, subagents, provider.name, request, { partialOutput, capped, worktrees })
      return `started background subagent task ${task.id}`
    },
  })
}

interface Arguments {
  readonly description: string
  readonly prompt: string
  readonly run_in_background?: boolean
}

async function runToEnd(subagents: SubagentCore, provider: string, request: SubagentStartRequest, partialOutput: PartialOutput, worktrees: WorktreeCore | undefined) {
  if (worktrees) return runIsolated(worktrees, subagents, provider, request, partialOutput)
  let run: SubagentRun
  try {
    run = await subagents.start(provider, request)
  } catch (error) {
    throw startFailure(error)
  }
  try {
    return renderResult(await run.result, partialOutput)
  } finally {
    // Its failure is logged by the service, and is not the child's.
    await run.dispose().catch(() => {})
  }
}

/** The same in a worktree, of which the model reads too, however the child ended. */
async function runIsolated(worktrees: WorktreeCore, subagents: SubagentCore, provider: string, request: SubagentStartRequest, partialOutput: PartialOutput): Promise<ToolOutput> {
  let isolation: Isolation
  try {
    isolation = await isolate(worktrees, request.parent, request.signal)
  } catch (error) {
    throw request.signal.aborted ? cancelledError(error) : error
  }
  let output: ToolOutput
  try {
    output = await runToEnd(subagents, provider, { ...request, cwd: isolation.cwd }, partialOutput, undefined)
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n\n${await isolation.end()}`, { cause: error })
  }
  const block = await isolation.end()
  return typeof output === 'string' ? `${output}\n\n${block}` : [...output, { type: 'text', text: `\n\n${block}` }]
}

function whyNotInBackground({ enableRunInBackground }: Config): string {
  return enableRunInBackground
    ? 'nothing can run in the background here (the app has no ctx.tasks)'
    : 'background mode is switched off for this tool (enableRunInBackground)'
}
