import type { EventKind } from '@dak/contracts/events';
import type { Scope } from '@dak/kernel';

/** Kinds of events that are not about mail; all others need `mail.read`. */
export const WITHOUT_MAIL: readonly string[] = [
  'agent.action',
  'domain.verified',
] satisfies readonly EventKind[];

/** Whether an endpoint may get an event, by the scopes of its makers. */
export function mayGet(
  makerScopes: readonly string[] | null,
  event: { type: string; needsSend: boolean },
): boolean {
  if (makerScopes === null) return true;
  const has = (scope: Scope): boolean => makerScopes.includes(scope);
  if (event.needsSend && !has('mail.send')) return false;
  return WITHOUT_MAIL.includes(event.type) || has('mail.read');
}

/** The facts of a stored delivery that {@link mayGet} decides by. */
export interface StoredDelivery {
  event_type: string;
  trigger: string;
  /** Only for those who may send in the conversation; null = no. */
  needs_send: boolean | null;
}

/** Whether a delivery may still be sent: another key may have changed the endpoint since it was made. */
export function mayStillGet(
  makerScopes: readonly string[] | null,
  { event_type, trigger, needs_send }: StoredDelivery,
): boolean {
  // A test event contains no real data.
  if (trigger === 'test') return true;
  return mayGet(makerScopes, { type: event_type, needsSend: needs_send === true });
}
