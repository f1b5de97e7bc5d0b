import type {} from '@offshoot/agent'
import type { SubagentCore, SubagentProvider, SubagentRun } from '@offshoot/subagent'
import { defineTool, type Tool } from '@offshoot/tools'
import { Type } from '@sinclair/typebox'
import type { Config } from './index.ts'
import { renderResult, startFailure } from './render.ts'
import { labelDescription, wordingFor } from './wording.ts'

const neverAborts = new AbortController().signal

/** The tool that hands a task to `provider`, and answers with the child's final text. */
export function delegationTool(subagents: SubagentCore, provider: SubagentProvider, config: Config): Tool {
  const wording = wordingFor(provider)
  const { toolName: name, agentOptions, persona, toolFilter, maxDepth, concurrency } = config
  return defineTool({
    name,
    description: wording.description,
    parameters: Type.Object({
      description: Type.String({ description: labelDescription }),
      prompt: Type.String({ description: wording.prompt }),
    }),
    concurrency,
    async execute({ description, prompt }, { agent, callId, signal = neverAborts }) {
      if (!agent) throw new Error('subagent tool requires a calling agent (exec.agent was undefined)')
      if (description.trim() === '') throw new Error(`"description" must not be blank; say in a few words what the task is`)
      if (prompt.trim() === '') throw new Error(`"prompt" must not be blank; it is all that the subagent is told`)
      let run: SubagentRun
      try {
        run = await subagents.start(provider.name, {
          prompt, parent: agent, signal, label: description, tool: { name, callId }, agentOptions, persona, toolFilter, maxDepth,
        })
      } catch (error) {
        throw startFailure(error)
      }
      try {
        return renderResult(await run.result)
      } finally {
        // Its failure is logged by the service, and is not the child's.
        await run.dispose().catch(() => {})
      }
    },
  })
}
