import type { Principal } from './principal';

export const ACTOR_TYPES = ['user', 'api_key', 'agent', 'rule', 'system', 'external'] as const;
export type ActorType = (typeof ACTOR_TYPES)[number];

/** Who did something: author of a message, actor of an activity entry and of an event. */
export interface Actor {
  type: ActorType;
  /** User, credential, agent or rule; null for the outside world and for the service itself. */
  id: string | null;
  name: string;
  /** The agent run behind it. */
  runId: string | null;
}

/** The service itself: sweeps, wake-ups, threading. */
export const SYSTEM: Actor = { type: 'system', id: null, name: 'Dak', runId: null };

export function actorOf(principal: Principal): Actor {
  return principal.type === 'api_key'
    ? { type: 'api_key', id: principal.credentialId, name: principal.userName, runId: null }
    : { type: 'user', id: principal.userId, name: principal.userName, runId: null };
}
