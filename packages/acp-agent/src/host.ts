import type {} from '@offshoot/approvals'
import type {} from '@offshoot/subagent'
import type { Context } from 'cordis'

/** The app whose agent is served. */
export interface AcpHost {
  readonly ctx: Context
  /** End everything of it. */
  dispose(): Promise<void>
}
