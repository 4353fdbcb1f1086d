import { ForbiddenError, type Principal } from '@dak/kernel';
import type { EndpointRow } from './endpoint-row';
import { WITHOUT_MAIL } from '../visibility/scopes-of-makers';

export type Makers = Pick<EndpointRow, 'key_ids' | 'maker_scopes'>;

/** The makers of an endpoint that the caller makes, or takes over by enabling it again. */
export function makersOf({ type, credentialId, scopes }: Principal): Makers {
  if (type === 'session') return { key_ids: null, maker_scopes: null };
  return { key_ids: [credentialId], maker_scopes: [...scopes] };
}

/** The makers after a change by the caller: no scope is added, and the endpoint stops with each of the keys. */
export function makersWith({ key_ids, maker_scopes }: Makers, principal: Principal): Makers {
  const own = makersOf(principal);
  if (own.key_ids === null || own.maker_scopes === null) return { key_ids, maker_scopes };
  return {
    key_ids: [...new Set([...(key_ids ?? []), ...own.key_ids])],
    maker_scopes: own.maker_scopes.filter((scope) => maker_scopes?.includes(scope) ?? true),
  };
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
