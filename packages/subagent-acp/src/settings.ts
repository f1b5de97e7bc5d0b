import type { NewSessionResponse, SessionConfigOption } from '@agentclientprotocol/sdk/unstable'
import { suggest } from '@offshoot/problems'
import type { AcpAgent } from './agent.ts'

/**
 * Put a new session into the mode, and set the options, that the config and the request ask for.
 * Answers the options as they are then.
 *
 * @throws {AcpError} `UNSUPPORTED` for one that the agent does not have, or does not take over.
 */
export async function applySettings(agent: AcpAgent, session: NewSessionResponse, model: string | undefined, signal: AbortSignal): Promise<readonly SessionConfigOption[]> {
  const { config: { mode, configOptions } } = agent
  const settings = new Settings(agent, session, signal)
  if (mode !== undefined) await settings.setMode(mode)
  if (model !== undefined) await settings.setByCategory('model', model)
  for (const [id, value] of Object.entries(configOptions)) await settings.setOption(id, value)
  return settings.options
}

/** The model that a session runs on, where its options say. */
export function modelOf(options: readonly SessionConfigOption[]): string | undefined {
  const option = options.find(({ category }) => category === 'model')
  return option?.type === 'select' && option.currentValue ? option.currentValue : undefined
}

class Settings {
  options: readonly SessionConfigOption[]
  private readonly agent: AcpAgent
  private readonly session: NewSessionResponse
  private readonly signal: AbortSignal

  constructor(agent: AcpAgent, session: NewSessionResponse, signal: AbortSignal) {
    this.agent = agent
    this.session = session
    this.signal = signal
    this.options = session.configOptions ?? []
  }

  /** Older agents have modes; newer ones an option for them. */
  async setMode(modeId: string): Promise<void> {
    const { agent, session: { modes, sessionId } } = this
    const known = modes?.availableModes?.map(({ id }) => id)
    if (!known?.includes(modeId)) {
      if (this.options.some(({ category }) => category === 'mode')) return this.setByCategory('mode', modeId)
      agent.phase = 'mode'
      throw agent.failure('UNSUPPORTED', `the agent has no mode "${modeId}"${known?.length ? suggest(modeId, known, 'modes') : ' (it has no modes)'}`)
    }
    if (modes?.currentModeId !== modeId) await this.call('mode', 'session/set_mode', { sessionId, modeId })
  }

  async setByCategory(category: 'mode' | 'model', value: string): Promise<void> {
    const option = this.options.find(each => each.category === category)
    if (!option) {
      this.agent.phase = 'options'
      throw this.agent.failure('UNSUPPORTED', `the agent does not let its ${category} be chosen ("${value}"); leave it out, or choose it in the agent's own config`)
    }
    await this.setOption(option.id, value)
  }

  async setOption(configId: string, value: string | boolean): Promise<void> {
    const { agent, session: { sessionId } } = this
    agent.phase = 'options'
    const option = this.options.find(({ id }) => id === configId)
    if (!option) throw agent.failure('UNSUPPORTED', `the agent has no option "${configId}"${this.options.length > 0 ? suggest(configId, this.options.map(({ id }) => id), 'options') : ' (it has no options)'}`)
    const isSwitch = option.type === 'boolean'
    if (isSwitch !== (typeof value === 'boolean')) throw agent.failure('UNSUPPORTED', `its option "${configId}" is ${isSwitch ? 'true or false' : 'one of several'}, not ${JSON.stringify(value)}`)
    if (option.type === 'select') {
      const values = option.options.flatMap(each => 'options' in each ? each.options : each).map(each => each.value)
      if (!values.includes(value as string)) throw agent.failure('UNSUPPORTED', `its option "${configId}" cannot be "${value}"${suggest(value as string, values, 'values')}`)
    }
    if (option.currentValue === value) return
    const answer = await this.call('options', 'session/set_config_option', typeof value === 'boolean' ? { sessionId, configId, type: 'boolean', value } : { sessionId, configId, value })
    const { configOptions } = (answer ?? {}) as { configOptions?: unknown }
    if (Array.isArray(configOptions)) this.options = configOptions as SessionConfigOption[]
  }

  private call(phase: 'mode' | 'options', method: string, params: object): Promise<unknown> {
    return this.agent.call(phase, method, params, { timeoutMs: this.agent.config.timeouts.session, signal: this.signal })
  }
}
