import type { EventKind } from '@dak/contracts/events';
import type { Scope } from '@dak/kernel';

/** Kinds that tell nothing of mail; all others are for who may read it. */
export const WITHOUT_MAIL: readonly string[] = [
  'agent.action',
  'domain.verified',
] satisfies readonly EventKind[];

/** What an endpoint may be sent, going by the scopes of its makers. */
export function mayGet(
  makerScopes: readonly string[] | null,
  event: { type: string; needsSend: boolean },
): boolean {
  if (makerScopes === null) return true;
  const has = (scope: Scope): boolean => makerScopes.includes(scope);
  if (event.needsSend && !has('mail.send')) return false;
  return WITHOUT_MAIL.includes(event.type) || has('mail.read');
}

/** What {@link mayGet} needs to know of a delivery, as stored. */
export interface StoredDelivery {
  event_type: string;
  trigger: string;
  /** Only for who may send in the conversation; null = no. */
  needs_send: boolean | null;
}

/** Whether a delivery may still go out: another key may have changed the endpoint since it was made. */
export function mayStillGet(
  makerScopes: readonly string[] | null,
  { event_type, trigger, needs_send }: StoredDelivery,
): boolean {
  // A test tells nothing about anybody.
  if (trigger === 'test') return true;
  return mayGet(makerScopes, { type: event_type, needsSend: needs_send === true });
}
