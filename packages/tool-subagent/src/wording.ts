import type { SubagentProvider } from '@offshoot/subagent'

// The texts are the specification's, to the byte: changing one changes what models do, and empties their caches.

const standalone = {
  description: 'Delegate a self-contained task to a subagent (a separate agent that works in its own context) and return its final result. Use this to offload focused, independent work — research, a scoped implementation, an analysis — so it does not consume this conversation\'s context. The subagent runs to completion and you receive only its final answer, not its intermediate steps. Give it a complete, standalone prompt: it does not see this conversation.',
  prompt: 'The complete, self-contained task for the subagent. It does not share this conversation\'s context, so include everything it needs.',
}

const inherited = {
  description: 'Delegate a task to a subagent that INHERITS this conversation: a child agent seeded with all completed turns so far (it does not see the current in-flight turn), returning only its final result. Use this when the subtask builds on this conversation\'s context — a follow-up analysis, a review, a continuation — without consuming this conversation\'s context for the work itself. You receive only its final answer, not its intermediate steps.',
  prompt: 'The task for the subagent. It already sees this conversation\'s completed turns, so build on them freely and state only what is new.',
}

export const labelDescription = 'A short (3-5 word) description of the delegated task, for display.'

export interface Wording {
  /** Of the tool. */
  readonly description: string
  /** Of its `prompt` parameter. */
  readonly prompt: string
}

/** What the model reads about a tool over `provider`. */
export function wordingFor(provider: SubagentProvider): Wording {
  return provider.toolWording ?? (provider.inheritsParentContext ? inherited : standalone)
}

/** What is added where each child works in a checkout of its own: the caller finds nothing of it in its own one. */
export const isolationDescription = ' Each subagent works in a git worktree of its own, made from your latest commit: it does not see what you have not committed, and what it changes is there, not in your checkout. Where that is, and which files differ, follows its answer.'

/** Appended to a tool's description while it can work in the background. */
export const backgroundDescription = ' With run_in_background the call returns at once with a task id while the subagent works on; its result is brought to you in a notice when it is done. Do not wait or poll for it: continue with other work, or end your turn.'

export const backgroundParameter = 'Return at once and let the subagent work in the background; its result comes in a notice. Default: wait for the result.'
