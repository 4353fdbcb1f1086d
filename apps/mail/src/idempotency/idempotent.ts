import type { Document } from '@dak/contracts/mail';
import { DomainError, RefusedError } from '@dak/kernel';
import type { CallContext } from '@dak/platform/grpc';
import type { SqlExecutor } from '@dak/platform/postgres';

/** Hours that an answer is kept. */
export const IDEMPOTENCY_HOURS = 24;

interface StoredAnswer {
  request_hash: string;
  response_id: string;
  response_version: number;
  response_json: string;
}

/**
 * Runs `effect` once per Idempotency-Key and stores its answer in the same transaction; a repeat gets
 * the stored answer with `replayed`. Without a key the effect just runs. Keys belong to a credential
 * and a route, and are forgotten after {@link IDEMPOTENCY_HOURS}.
 * @throws RefusedError `idempotency_mismatch` when the key was used with another request
 * @throws DomainError `idempotency_in_progress` (conflict) while the first request is still running
 */
export async function idempotent(
  tx: SqlExecutor,
  context: Pick<CallContext, 'principal' | 'idempotency'>,
  effect: () => Promise<Document>,
): Promise<Document> {
  const { idempotency, principal } = context;
  if (idempotency === null) return effect();
  const scope = [
    principal.organizationId,
    principal.credentialId,
    idempotency.route,
    idempotency.key,
  ];
  // Its own statement: the record must be looked up with a snapshot taken after the lock.
  const { rows: locks } = await tx.query<{ locked: boolean }>(
    'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as locked',
    [scope.join('\n')],
  );
  if (locks[0]?.locked !== true) {
    throw new DomainError(
      'conflict',
      'idempotency_in_progress',
      'A request with this Idempotency-Key is still running: wait for its answer, then repeat.',
      { retryAfterSeconds: 1 },
    );
  }
  const { rows } = await tx.query<StoredAnswer>(
    `select request_hash, response_id, response_version, response_json
       from idempotency_record
      where organization_id = $1 and principal_id = $2 and route = $3 and key = $4
        and created_at > now() - make_interval(hours => ${IDEMPOTENCY_HOURS})`,
    scope,
  );
  const stored = rows[0];
  if (stored !== undefined) return replay(stored, idempotency.requestHash);

  const document = await effect();
  await tx.query(
    `insert into idempotency_record
            (organization_id, principal_id, route, key, request_hash, response_id, response_version, response_json, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, now())
         on conflict (organization_id, principal_id, route, key)
         do update set request_hash = excluded.request_hash, response_id = excluded.response_id,
                       response_version = excluded.response_version, response_json = excluded.response_json,
                       created_at = excluded.created_at`,
    [
      ...scope,
      idempotency.requestHash,
      document.id,
      document.version,
      document.json.toString('utf8'),
    ],
  );
  return document;
}

function replay(stored: StoredAnswer, requestHash: string): Document {
  if (stored.request_hash !== requestHash) {
    throw new RefusedError(
      'This Idempotency-Key was used with another request: send the same body again, or a new key.',
      'idempotency_mismatch',
    );
  }
  return {
    id: stored.response_id,
    version: stored.response_version,
    json: Buffer.from(stored.response_json, 'utf8'),
    replayed: true,
  };
}
