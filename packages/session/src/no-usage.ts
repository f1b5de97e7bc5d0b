import type { Usage } from './types.ts'

/** What costs nothing, or where nobody knows what it cost. */
export const noUsage: Usage = Object.freeze({ steps: 0, toolCalls: 0, durationMs: 0 })
