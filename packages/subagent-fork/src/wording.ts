import { answerToolName, type SubagentProvider } from '@offshoot/subagent'

/** What a tool says over a provider that seeds steps: the standard text would deny what the child sees. */
export const stepsWording: NonNullable<SubagentProvider['toolWording']> = {
  description: 'Delegate a task to a subagent that INHERITS this conversation and your work so far: a child agent seeded with all completed turns and with the completed steps of the current turn, tool results included (it does not see the message that makes this call, nor other calls in that message), returning only its final result. Use this when the subtask builds on what you have already read or done — a follow-up analysis, a review, a continuation — without consuming this conversation\'s context for the work itself. You receive only its final answer, not its intermediate steps.',
  prompt: 'The task for the subagent. It already sees this conversation up to your latest completed step, so build on that freely and state only what is new.',
}

/**
 * How the child's first user message begins. After a conversation in which it was the one to answer, and perhaps to
 * delegate, a model has to be told that it is not any more.
 */
export const rolePin = 'You are now a subagent: a child agent with a task of its own, for which any conversation above is inherited background, while the agent that led it waits for you or goes on without you. Do only the task below, yourself and completely, and end with a plain-text answer, which is all that is handed back.'

/** The same, for a child whose answer is a call of its tool for that. */
export const structuredPin = rolePin.replace('end with a plain-text answer, which', `end with a call of ${answerToolName}, which`)

/** What is added for a child that works in another folder: the conversation names files where it took place. */
export function placePin(cwd: string): string {
  return `Your working directory is ${cwd}, a checkout of your own: where anything above names a file or folder elsewhere, take the one at the same place in yours, read it anew, and leave the other alone.`
}
