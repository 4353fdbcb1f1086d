import type { Clock, Principal } from '@dak/kernel';
import type { IdempotencyKey } from '@dak/platform/grpc';
import {
  IDEMPOTENCY_HOURS,
  lockKeys,
  requireSameRequest,
  stillRunning,
} from '@dak/platform/idempotency';
import type { GatewayStore, GatewayTransaction } from '../database/gateway-store';
import type { RouteReply } from '../http/route';
import { keyHash, openAnswer, sealAnswer, type StorableReply } from './stored-answer';

const LIFETIME_MS = IDEMPOTENCY_HOURS * 3_600_000;

export interface RunOnceDeps {
  store: GatewayStore;
  /** 32 bytes. */
  secret: Uint8Array;
  clock: Clock;
}

export interface OnceRequest {
  principal: Principal;
  idempotency: IdempotencyKey | null;
}

const FIND = `
  select request_hash as "requestHash", answer
    from idempotency_record
   where organization_id = $1::uuid
     and credential_id = $2::uuid
     and route = $3
     and key_hash = $4
     and expires_at > $5::timestamptz`;

const STORE = `
  insert into idempotency_record (organization_id, credential_id, route, key_hash, request_hash,
                                  status, answer, expires_at)
       values ($1::uuid, $2::uuid, $3, $4, $5, $6, $7, $8::timestamptz)
  on conflict (organization_id, credential_id, route, key_hash) do update
          set request_hash = excluded.request_hash,
              status       = excluded.status,
              answer       = excluded.answer,
              expires_at   = excluded.expires_at
    returning status`;

/**
 * Runs a change in one transaction of the caller's tenant; with an Idempotency-Key its answer is
 * stored in that transaction and given again for the same request. A process that dies midway leaves
 * neither effect nor answer.
 * @throws DomainError conflict while the same key is running, refused when it was used for another request
 */
export function runOnce(
  deps: RunOnceDeps,
  { principal, idempotency }: OnceRequest,
  work: (tx: GatewayTransaction) => Promise<StorableReply>,
  options: { acrossTenants?: boolean } = {},
): Promise<RouteReply> {
  const { store } = deps;
  const run = options.acrossTenants ? store.acrossTenants.bind(store) : store.inTenant.bind(store);
  return run(principal.organizationId, async (tx) => {
    if (idempotency === null) return work(tx);
    const stored = await findAnswer(deps, tx, principal, idempotency);
    if (stored !== null) return { ...stored, replayed: true };
    const reply = await work(tx);
    await tx.query(STORE, [
      ...[principal.organizationId, principal.credentialId, idempotency.route],
      ...[keyHash(idempotency.key), idempotency.requestHash, reply.status],
      sealAnswer(deps.secret, idempotency.key, reply),
      new Date(deps.clock() + LIFETIME_MS).toISOString(),
    ]);
    return reply;
  });
}

async function findAnswer(
  deps: RunOnceDeps,
  tx: GatewayTransaction,
  principal: Principal,
  { key, route, requestHash }: IdempotencyKey,
): Promise<StorableReply | null> {
  const { organizationId, credentialId } = principal;
  const scope = `idempotency:${credentialId}:${route}:${key}`;
  if (!(await lockKeys(tx, [scope])).has(scope)) throw stillRunning();
  const now = new Date(deps.clock()).toISOString();
  const { rows } = await tx.query<{ requestHash: string; answer: Uint8Array }>(FIND, [
    ...[organizationId, credentialId, route, keyHash(key), now],
  ]);
  const record = rows[0];
  if (record === undefined) return null;
  requireSameRequest(record.requestHash, requestHash);
  return openAnswer(deps.secret, key, record.answer);
}
