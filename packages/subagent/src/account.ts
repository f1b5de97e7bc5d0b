import { type Agent, sumUsage } from '@offshoot/agent'
import type { Usage } from '@offshoot/session'
import type { PublishedRun } from './run.ts'

/** What each child has used, with everything below it, counted once: those included that failed, or ended after their parents. */
export class UsageAccount {
  private readonly runs = new WeakMap<Agent, PublishedRun>()
  /** Of the ended children of agents, all that is below those included. */
  private readonly below = new WeakMap<Agent, Usage>()

  /** A run exists. */
  open(run: PublishedRun): void {
    if (run.agent) this.runs.set(run.agent, run)
  }

  /** A run has ended, and used `own` itself. Answers what it and all below it used, and adds that to its parent's account. */
  close({ agent, parent }: PublishedRun, own: Usage): Usage {
    const total = plus(own, agent && this.below.get(agent))
    this.credit(parent, total)
    return total
  }

  /** Tells what an agent and everything below it has used so far, `live` being the runs that have not ended. */
  totals(live: Iterable<PublishedRun>): (agent: Agent) => Usage {
    const byParent = new Map<Agent, PublishedRun[]>()
    for (const run of live) {
      if (run.isSettled) continue
      const siblings = byParent.get(run.parent)
      if (siblings) siblings.push(run)
      else byParent.set(run.parent, [run])
    }
    // What a child elsewhere started itself is in its own account already.
    const totalOf = ({ agent: child, progress }: PublishedRun): Usage | undefined => child ? total(child) : progress?.usage
    const total = (each: Agent): Usage => (byParent.get(each) ?? []).map(totalOf).reduce(plus, plus(each.usage, this.below.get(each)))
    return total
  }

  private credit(parent: Agent, total: Usage): void {
    this.below.set(parent, plus(total, this.below.get(parent)))
    // A parent that has ended has handed its total on without this.
    const run = this.runs.get(parent)
    if (run?.isSettled) this.credit(run.parent, total)
  }
}

/** Both together, in the time of the first: what is below it ran meanwhile. */
function plus(own: Usage, below: Usage | undefined): Usage {
  return below ? Object.freeze({ ...sumUsage(own, below), durationMs: own.durationMs }) : own
}
