import type { SessionConfigOption, SessionModeState } from '@agentclientprotocol/sdk'
import type { Adjustment } from '@offshoot/approvals'

export const modeOption = 'mode'
export const defaultMode = 'default'

interface Mode {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly adjust?: Adjustment['adjust']
}

/** How much an agent may do before a person is asked; what the app denies stays denied in each. */
const modes: readonly Mode[] = [
  { id: defaultMode, name: 'Default', description: 'What the app\'s approvals say' },
  { id: 'accept-edits', name: 'Accept edits', description: 'Changes of files are not asked for', adjust: (policy, effect) => effect === 'write' || effect === 'read' ? 'allow' : policy },
  { id: 'read-only', name: 'Read only', description: 'Nothing is changed, and no command runs', adjust: (policy, effect) => effect === 'read' ? policy : 'deny' },
  { id: 'allow-all', name: 'Allow all', description: 'Nothing is asked for', adjust: () => 'allow' },
]

export const modeIds = modes.map(({ id }) => id)

/** What a mode makes of the app's approvals: nothing, of the default one. */
export function adjustmentOf(mode: string): Adjustment | undefined {
  const adjust = modes.find(({ id }) => id === mode)?.adjust
  return adjust && { name: `mode "${mode}"`, adjust }
}

/** As clients before config options knew modes. */
export function modeState(currentModeId: string): SessionModeState {
  return { currentModeId, availableModes: modes.map(({ id, name, description }) => ({ id, name, description })) }
}

export function modeConfigOption(currentValue: string): SessionConfigOption {
  return { type: 'select', id: modeOption, name: 'Mode', category: 'mode', currentValue, options: modes.map(({ id, name, description }) => ({ value: id, name, description })) }
}
