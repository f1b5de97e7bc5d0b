import type { Message, Session } from '@offshoot/session'
import type { Tool, ToolFilter } from '@offshoot/tools'
import type { Agent } from './agent.ts'
import type { AnswerTool } from './types.ts'

/** What an agent is from its beginning to its end: `ctx.agents` settles it when it makes one. */
export class AgentIdentity {
  readonly id: string
  readonly label: string
  readonly parent: Agent | undefined
  /** 0 for a root, unless its app is itself a child; a child is one deeper than its parent. */
  readonly depth: number
  /** Absolute depth that nothing below it may exceed, where whoever runs its root said so. */
  readonly maxDepth: number | undefined
  /** Absolute. */
  readonly cwd: string
  readonly session: Session
  /** The registered name of its model. */
  readonly modelName: string
  /** Its own persona; absent where it has the app's. */
  readonly persona: string | undefined
  readonly system: Message
  readonly toolFilter: ToolFilter | undefined
  /** Model requests a turn may make. */
  readonly maxSteps: number
  /** Per request. */
  readonly maxOutputTokens: number | undefined
  /** Tools of its own, which no filter touches. */
  readonly ownTools: readonly Tool[] | undefined
  /** The tool whose call is its answer; absent where that is text. */
  readonly answer: AnswerTool | undefined

  constructor(setup: AgentIdentity) {
    this.id = setup.id
    this.label = setup.label
    this.parent = setup.parent
    this.depth = setup.depth
    this.maxDepth = setup.maxDepth
    this.cwd = setup.cwd
    this.session = setup.session
    this.modelName = setup.modelName
    this.persona = setup.persona
    this.system = setup.system
    this.toolFilter = setup.toolFilter
    this.ownTools = setup.ownTools
    this.answer = setup.answer
    this.maxSteps = setup.maxSteps
    this.maxOutputTokens = setup.maxOutputTokens
  }
}
