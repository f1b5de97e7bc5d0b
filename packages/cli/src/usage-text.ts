import type { Usage } from '@offshoot/session'
import { plural } from './wording.ts'

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const full = new Intl.NumberFormat('en')

/** What an agent used itself, and with everything below it. */
export interface AgentUsage {
  readonly own: Usage
  readonly total: Usage
}

/** The account of a run, as one line. `children` is how many ran, at every depth. */
export function usageLine({ own, total }: AgentUsage, children: number): string {
  const itself = children === 0 ? '' : ` (own ${isKnown(own) ? figures(own) : 'unknown'}), ${plural(children, 'child', 'children')}`
  const unknown = isKnown(total) && total.unreportedSteps ? `; tokens of ${plural(total.unreportedSteps, 'request')} unknown` : ''
  return `usage: ${plural(total.steps, 'request')}, ${tokens(total)}${itself}${unknown}\n`
}

/** What a run used itself, and in all where that is more: `1,200 in + 80 out tokens; in all 5,000 in + 300 out tokens`. */
export function usageText(own: Usage, total: Usage = own): string | undefined {
  if (total.steps === 0) return undefined
  return total.steps === own.steps ? withUnknown(own) : `${withUnknown(own)}; in all ${withUnknown(total)}`
}

/** The same for a line that changes: `1.2K of 5K in + 80 of 300 out`, and `+ ?` where some requests are unknown. */
export function liveUsage(own: Usage, total: Usage = own): string | undefined {
  if (total.steps === 0) return undefined
  if (!isKnown(total)) return '? tokens'
  const part = (key: 'inputTokens' | 'outputTokens') => own.steps === total.steps ? '' : `${own.steps === 0 ? 0 : short(own[key])} of `
  return `${part('inputTokens')}${short(total.inputTokens)} in + ${part('outputTokens')}${short(total.outputTokens)} out${total.unreportedSteps ? ' + ?' : ''}`
}

/** In and out for a narrow terminal: `5K+300`. */
export function narrowUsage(usage: Usage): string | undefined {
  if (usage.steps === 0) return undefined
  if (!isKnown(usage)) return '?'
  return `${short(usage.inputTokens)}+${short(usage.outputTokens)}${usage.unreportedSteps ? '+?' : ''}`
}

function withUnknown(usage: Usage): string {
  return isKnown(usage) && usage.unreportedSteps ? `${tokens(usage)}, ${plural(usage.unreportedSteps, 'request')} unknown` : tokens(usage)
}

function tokens(usage: Usage): string {
  if (usage.steps === 0) return 'no tokens'
  return isKnown(usage) ? `${figures(usage)} tokens` : 'tokens unknown'
}

function figures({ inputTokens, outputTokens }: Usage): string {
  return `${inputTokens === undefined ? '?' : full.format(inputTokens)} in + ${outputTokens === undefined ? '?' : full.format(outputTokens)} out`
}

function isKnown({ inputTokens, outputTokens }: Usage): boolean {
  return inputTokens !== undefined || outputTokens !== undefined
}

function short(figure: number | undefined): string {
  return figure === undefined ? '?' : compact.format(figure)
}
