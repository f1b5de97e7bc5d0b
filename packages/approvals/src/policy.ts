import type { ToolEffect } from '@offshoot/tools'
import type { Adjustment, Policy } from './types.ts'

export interface Policies {
  /** Of tools that only look. */
  readonly read: Policy
  readonly write: Policy
  readonly execute: Policy
  /** Of tools that do not say what they do. Absent: as of those that execute. */
  readonly undeclared?: Policy
  /** Of single tools, whatever they do. */
  readonly tools: Readonly<Record<string, Policy>>
}

/** What the config says of one tool, and where it says so. */
export interface Rule {
  readonly policy: Policy
  /** The key: `execute`, `tools.shell`. */
  readonly key: string
  /** Who says otherwise than the config. */
  readonly adjustedBy?: string
}

/** A rule as it is for one tree. What the config denies stays denied. */
export function adjusted(rule: Rule, adjustment: Adjustment | undefined, effect: ToolEffect | undefined): Rule {
  if (!adjustment || rule.policy === 'deny') return rule
  const policy = adjustment.adjust(rule.policy, effect)
  return policy === rule.policy ? rule : { policy, key: rule.key, adjustedBy: adjustment.name }
}

export function ruleFor(policies: Policies, tool: string, effect: ToolEffect | undefined): Rule {
  const own = Object.hasOwn(policies.tools, tool) ? policies.tools[tool] : undefined
  if (own !== undefined) return { policy: own, key: `tools.${tool}` }
  if (effect !== undefined) return { policy: policies[effect], key: effect }
  return policies.undeclared === undefined ? { policy: policies.execute, key: 'execute' } : { policy: policies.undeclared, key: 'undeclared' }
}
