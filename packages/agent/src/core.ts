import type { ModelCore } from '@offshoot/model'
import type { Message, SessionCore } from '@offshoot/session'
import { checkFilter, type ToolCore } from '@offshoot/tools'
import { isAbsolute } from 'node:path'
import { Agent } from './agent.ts'
import { AgentError } from './error.ts'
import { type Lineage, lineageFrom } from './lineage.ts'
import type { Notify } from './notify.ts'
import type { AgentOptions } from './types.ts'

export interface AgentDefaults {
  readonly model?: string
  readonly persona?: string
  readonly maxSteps: number
  readonly maxParallelTools: number
  readonly maxWakes: number
  readonly maxRepeats: number
}

/** What the core builds on: the plain cores of other services, and where events and errors go. */
export interface AgentCoreOptions extends AgentDefaults {
  readonly sessions: SessionCore
  readonly models: ModelCore
  readonly tools: ToolCore
  readonly notify: Notify
  readonly log: (error: unknown) => void
}

const defaultPersona = 'You are a capable agent that works with the tools it is given. Do the whole task, then end with a complete answer in plain text.'

/** System messages kept for sharing. More personas and folders than this in one app are made anew each time. */
const keptSystemMessages = 64

/** The plain core behind `ctx.agents`: plugins on a hot path take it once and keep it. */
export class AgentCore {
  readonly models: ModelCore
  readonly tools: ToolCore
  readonly maxParallelTools: number
  readonly maxWakes: number
  readonly maxRepeats: number
  readonly notify: Notify
  readonly log: (error: unknown) => void
  private readonly sessions: SessionCore
  private readonly defaults: AgentDefaults
  private readonly live = new Map<string, Agent>()
  private readonly systems = new Map<string, Message>()
  /** Of roots that are given none. */
  private readonly lineage: Lineage = lineageFrom(process.env)
  private counter = 0

  constructor({ sessions, models, tools, notify, log, ...defaults }: AgentCoreOptions) {
    this.sessions = sessions
    this.models = models
    this.tools = tools
    this.notify = notify
    this.log = log
    this.defaults = defaults
    this.maxParallelTools = defaults.maxParallelTools
    this.maxWakes = defaults.maxWakes
    this.maxRepeats = defaults.maxRepeats
  }

  create(options: AgentOptions = {}): Agent {
    const { parent, toolFilter } = options
    if (parent?.state === 'disposed') throw new AgentError('AGENT_DISPOSED', `agent ${parent.id} is disposed and can have no child`)
    if (toolFilter) checkFilter(toolFilter)
    const cwd = options.cwd ?? parent?.cwd ?? process.cwd()
    if (!isAbsolute(cwd)) throw new AgentError('INVALID_AGENT', `the working directory "${cwd}" is not absolute`)
    const maxSteps = options.maxSteps ?? this.defaults.maxSteps
    if (!Number.isInteger(maxSteps) || maxSteps < 1) throw new AgentError('INVALID_AGENT', `maxSteps must be a whole number from 1, not ${maxSteps}`)
    const modelName = options.model ?? parent?.modelName ?? this.defaults.model ?? this.models.defaultName()
    this.models.get(modelName)
    const lineage = parent ? { depth: parent.depth + 1, maxDepth: parent.maxDepth } : options.lineage ?? this.lineage
    const { depth } = lineage
    const agent = new Agent(this, {
      id: `agent-${++this.counter}`,
      label: options.label ?? 'main',
      parent,
      depth,
      maxDepth: lineage.maxDepth,
      cwd,
      session: options.session ?? this.sessions.create(parent ? { parent: parent.session.id, depth, cwd } : { depth, cwd }),
      modelName,
      persona: options.persona,
      system: this.system(options.persona ?? this.defaults.persona ?? defaultPersona, cwd),
      toolFilter,
      ownTools: options.tools,
      answer: options.answer,
      maxSteps,
      maxOutputTokens: options.maxOutputTokens,
    })
    this.live.set(agent.id, agent)
    this.notify('agent/created', agent)
    return agent
  }

  /** Live agents, oldest first. */
  list(): Agent[] {
    return [...this.live.values()]
  }

  /** Called by an agent when nothing of it runs any more. */
  remove(agent: Agent): void {
    if (this.live.delete(agent.id)) this.notify('agent/disposed', agent)
  }

  async drain(): Promise<void> {
    while (this.live.size > 0) {
      await Promise.all(this.list().filter(agent => !agent.parent || agent.parent.state === 'disposed').map(agent => agent.dispose()))
    }
  }

  // Nothing in it varies between runs (no date, no ids), so that a vendor's cache holds.
  private system(persona: string, cwd: string): Message {
    const content = `${persona}\n\nWorking directory: ${cwd}`
    let message = this.systems.get(content)
    if (!message) {
      message = Object.freeze({ role: 'system' as const, content })
      if (this.systems.size < keptSystemMessages) this.systems.set(content, message)
    }
    return message
  }
}
