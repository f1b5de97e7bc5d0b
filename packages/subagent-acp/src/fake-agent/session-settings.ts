import { Refusal } from './faults.ts'
import type { FakeAgentOptions } from './flags.ts'

type Params = Readonly<Record<string, unknown>>

interface ConfigOption {
  readonly id: string
  readonly values: readonly string[]
  current: string | boolean
}

/** Mode and config options of one session. */
export class SessionSettings {
  private readonly modes: readonly string[]
  private readonly configOptions: readonly ConfigOption[]
  private mode: string | undefined

  constructor({ modes = [], configOptions = [] }: FakeAgentOptions) {
    this.modes = modes
    this.mode = modes[0]
    this.configOptions = configOptions.map(each => {
      const [id = '', list = ''] = each.split('=')
      const values = list === '' ? [] : list.split(',')
      return { id, values, current: values[0] ?? false }
    })
  }

  /** What of the answer to `session/new` speaks of them; nothing where there are none. */
  announced(): object {
    return {
      ...this.modes.length > 0 && { modes: { currentModeId: this.mode, availableModes: this.modes.map(id => ({ id, name: id })) } },
      ...this.configOptions.length > 0 && this.options(),
    }
  }

  setMode({ modeId }: Params): object {
    if (!this.modes.includes(modeId as string)) throw new Refusal(-32602, `no mode ${JSON.stringify(modeId)}`)
    this.mode = modeId as string
    return {}
  }

  setConfigOption({ configId, value }: Params): object {
    const option = this.configOptions.find(({ id }) => id === configId)
    if (!option) throw new Refusal(-32602, `no config option ${JSON.stringify(configId)}`)
    const fits = option.values.length > 0 ? option.values.includes(value as string) : typeof value === 'boolean'
    if (!fits) throw new Refusal(-32602, `config option "${option.id}" cannot be ${JSON.stringify(value)}`)
    option.current = value as string | boolean
    return this.options()
  }

  private options(): object {
    return {
      configOptions: this.configOptions.map(({ id, values, current }) => values.length > 0
        ? { id, name: id, type: 'select', currentValue: current, options: values.map(value => ({ value, name: value })) }
        : { id, name: id, type: 'boolean', currentValue: current }),
    }
  }
}
