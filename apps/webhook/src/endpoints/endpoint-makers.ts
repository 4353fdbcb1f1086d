import type { EventKind } from '@dak/contracts/events';
import { ForbiddenError, type Principal, type Scope } from '@dak/kernel';

/** Kinds that tell nothing of mail; all others are for who may read it. */
const WITHOUT_MAIL: readonly string[] = [
  'agent.action',
  'domain.verified',
] satisfies readonly EventKind[];

/** The credentials behind an endpoint, as far as they limit it. */
export interface Makers {
  /** Keys that made or changed it; it stops with each of them. null = none. */
  key_ids: readonly string[] | null;
  /** Scopes that all of them have; null = all of the owner's. */
  maker_scopes: readonly string[] | null;
}

/** Of an endpoint that the caller makes, or takes over by enabling it again. */
export function makersOf({ type, credentialId, scopes }: Principal): Makers {
  if (type === 'session') return { key_ids: null, maker_scopes: null };
  return { key_ids: [credentialId], maker_scopes: [...scopes] };
}

/** Of an endpoint that the caller changes: another key's webhook does not get further by it, and ends with either. */
export function makersWith({ key_ids, maker_scopes }: Makers, principal: Principal): Makers {
  const own = makersOf(principal);
  if (own.key_ids === null || own.maker_scopes === null) return { key_ids, maker_scopes };
  return {
    key_ids: [...new Set([...(key_ids ?? []), ...own.key_ids])],
    maker_scopes: own.maker_scopes.filter((scope) => maker_scopes?.includes(scope) ?? true),
  };
}

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

/** @param eventTypes empty = all @throws ForbiddenError `missing_scope` */
export function requireScopesFor(principal: Principal, eventTypes: readonly string[]): void {
  const isOfMail =
    eventTypes.length === 0 || eventTypes.some((type) => !WITHOUT_MAIL.includes(type));
  if (!isOfMail || principal.scopes.includes('mail.read')) return;
  throw new ForbiddenError(
    `The scope mail.read is missing: without it a webhook gets only ${WITHOUT_MAIL.join(' and ')}, name them in event_types.`,
    'missing_scope',
  );
}
