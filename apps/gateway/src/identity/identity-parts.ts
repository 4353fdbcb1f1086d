import type { Clock, Principal } from '@dak/kernel';
import type { IdempotencyKey } from '@dak/platform/grpc';
import type { AuditLog } from '../audit/audit-log';
import type { GatewayStore, GatewayTransaction } from '../database/gateway-store';
import type { RouteReply } from '../http/route';
import { runOnce } from '../idempotency/run-once';
import type { StorableReply } from '../idempotency/stored-answer';
import type { AccessTokens } from './access-token';
import type { IdentityVersions } from './identity-versions';
import type { LastUsedRecorder } from './last-used-recorder';
import type { Passwords } from './password';
import type { WorkAfterAnswers } from './work-after-answers';

/** @returns the normalized names */
export type PutDomains = (
  organizationId: string,
  names: readonly string[],
  caller: { readonly principal: Principal; readonly requestId: string },
  /** `isClaim`: the organization is only about to be made. */
  options?: { readonly isClaim?: boolean },
) => Promise<readonly string[]>;

/** Dependencies of the operations on users, keys, sessions and organizations. */
export interface IdentityParts {
  store: GatewayStore;
  versions: IdentityVersions;
  audit: AuditLog;
  tokens: AccessTokens;
  lastUsed: LastUsedRecorder;
  passwords: Passwords;
  afterAnswers: WorkAfterAnswers;
  clock: Clock;
  /** 32 bytes each, made once per deployment. */
  secrets: { idempotency: Uint8Array; cursor: Uint8Array; refresh: Uint8Array };
  /** Cookies get `Secure`. */
  isHttps: boolean;
  /** Makes the organization the owner of exactly these domains; not in a transaction. */
  putDomains: PutDomains;
  /** Tells the services about an organization that changed, and about its people; never rejects, see Announcer. */
  organizationChanged: (organizationId: string) => Promise<void>;
  /** Tells the services what of the whole deployment is stopped. */
  operationsChanged: () => Promise<void>;
  /** Tells the services about people of the organization who changed. */
  usersChanged: (organizationId: string) => Promise<void>;
  /** Tells the services about keys of the organization that have ended. */
  keysEnded: (organizationId: string) => Promise<void>;
}

/**
 * A change of permissions in the caller's organization: once per Idempotency-Key, effective from the next request
 * on any replica, and announced to the services before the reply.
 */
export async function changeIdentity(
  parts: IdentityParts,
  request: { principal: Principal; idempotency: IdempotencyKey | null },
  work: (tx: GatewayTransaction) => Promise<StorableReply>,
): Promise<RouteReply> {
  const { organizationId } = request.principal;
  const reply = await parts.versions.change(organizationId, () =>
    runOnce(
      { store: parts.store, secret: parts.secrets.idempotency, clock: parts.clock },
      request,
      work,
    ),
  );
  await Promise.all([parts.usersChanged(organizationId), parts.keysEnded(organizationId)]);
  return reply;
}
