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
import { insertAnswer, selectAnswer } from './answer-store';
import { openAnswer, sealAnswer, type StorableReply } from './stored-answer';

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
    await insertAnswer(tx, principal, idempotency, {
      status: reply.status,
      answer: sealAnswer(deps.secret, idempotency.key, reply),
      expiresAt: new Date(deps.clock() + LIFETIME_MS),
    });
    return reply;
  });
}

async function findAnswer(
  deps: RunOnceDeps,
  tx: GatewayTransaction,
  principal: Principal,
  { key, route, requestHash }: IdempotencyKey,
): Promise<StorableReply | null> {
  const { credentialId } = principal;
  const scope = `idempotency:${credentialId}:${route}:${key}`;
  if (!(await lockKeys(tx, [scope])).has(scope)) throw stillRunning();
  const record = await selectAnswer(tx, principal, { key, route }, new Date(deps.clock()));
  if (record === null) return null;
  requireSameRequest(record.requestHash, requestHash);
  return openAnswer(deps.secret, key, record.answer);
}
