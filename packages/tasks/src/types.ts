import type { Agent, TurnProgress } from '@offshoot/agent'

/** `running → stopping → completed | failed | killed`. The last three are final, and the first of them wins. */
export type TaskStatus = 'running' | 'stopping' | 'completed' | 'failed' | 'killed'

/** How background work ended. */
export type TaskOutcome =
  | { readonly status: 'completed', readonly output: string }
  | { readonly status: 'failed', readonly error: string }
  | { readonly status: 'killed' }

export interface TaskSpec {
  /** First part of the id: `subagent` makes `subagent-1`. Lower-case letters, digits and `-`. */
  readonly kind: string
  /** A few words for people and for the owner. */
  readonly label: string
  /** Its agent: the task goes with it, and its result goes to it. */
  readonly owner: Agent
  /** The work. It is called at once, and must end when `signal` aborts. A rejection counts as `failed`. */
  run(signal: AbortSignal, task: Task): Promise<TaskOutcome>
  /** What it is doing, for status lines. Never its words. */
  activity?(): Pick<TurnProgress, 'step' | 'tool'> | undefined
  /** `none`: somebody collects the result, and no notice is sent. Default `owner`. */
  readonly notice?: 'owner' | 'none'
  /** Whether it counts as one of those that its owner may have running. Default `true`; `false` where whoever starts it has a limit of its own. */
  readonly counts?: boolean
}

/** Background work, as it stands at the moment of reading. */
export interface Task {
  readonly id: string
  readonly kind: string
  readonly label: string
  readonly owner: Agent
  /** Whether its owner is told of the outcome, or somebody collects it. */
  readonly notice: 'owner' | 'none'
  readonly status: TaskStatus
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly settledAt?: number
  /** Once it has settled. */
  readonly outcome?: TaskOutcome
  /** Why it was killed, or is to be. */
  readonly reason?: string
  /** `undelivered` until its owner was told or collected it; always so while it runs. */
  readonly delivery: 'undelivered' | 'delivered' | 'consumed'
  readonly activity?: Pick<TurnProgress, 'step' | 'tool'> | undefined
}
