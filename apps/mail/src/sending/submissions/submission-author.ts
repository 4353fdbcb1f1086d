import { type Actor, actorOf, type Principal } from '@dak/kernel';

export interface SubmissionAuthor {
  readonly actor: Actor;
  /** No person decided about this mail: it is marked as automatic and counted by the loop guard. */
  readonly isAutomatic: boolean;
}

/**
 * The author of a mail. A key acting for an agent run is the agent; a user who sends what a run has
 * prepared has read it and is its author.
 */
export function authorOf(principal: Principal, runId: string | null): SubmissionAuthor {
  const actor = actorOf(principal);
  if (runId === null) return { actor, isAutomatic: false };
  if (principal.type === 'session') return { actor: { ...actor, runId }, isAutomatic: false };
  return { actor: { ...actor, type: 'agent', runId }, isAutomatic: true };
}
