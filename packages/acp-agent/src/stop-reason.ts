import type { StopReason as WireReason } from '@agentclientprotocol/sdk'
import type { TurnResult } from '@offshoot/agent'

/** How the protocol calls an end; `undefined` for one that is a failure there. */
export function wireReason({ stopReason }: Pick<TurnResult, 'stopReason'>): WireReason | undefined {
  switch (stopReason) {
    case 'completed':
      return 'end_turn'
    case 'aborted':
      return 'cancelled'
    case 'max-tokens':
      return 'max_tokens'
    case 'max-steps':
    case 'loop':
    case 'budget':
      return 'max_turn_requests'
    case 'refusal':
      return 'refusal'
    default:
      return undefined
  }
}
