import { uuidv7 } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';

/** Earlier secrets that sign too; beyond this the oldest is deleted. */
export const MAX_EARLIER_SECRETS = 5;

/** The organization whose secret it is, or the endpoint. */
export interface SecretScope {
  organizationId: string;
  endpointId: string | null;
}

const OF_SCOPE = `organization_id = $1 and endpoint_id is not distinct from $2::uuid`;

/** Locks out other transactions that change secrets of the organization, until this one ends. */
export async function lockSecrets(tx: SqlExecutor, organizationId: string): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended('secrets:' || $1, 0))`, [
    organizationId,
  ]);
}

export async function selectCurrent(
  tx: SqlExecutor,
  scope: SecretScope,
): Promise<{ ciphertext: Buffer; created_at: string } | null> {
  const { rows } = await tx.query<{ ciphertext: Buffer; created_at: string }>(
    `select ciphertext, created_at from secret where ${OF_SCOPE} and valid_until is null`,
    [scope.organizationId, scope.endpointId],
  );
  return rows[0] ?? null;
}

/** The time until which earlier secrets of the scope sign too; null when none does. */
export async function selectOverlapEnd(
  tx: SqlExecutor,
  scope: SecretScope,
): Promise<string | null> {
  const { rows } = await tx.query<{ until: string | null }>(
    `select max(valid_until) as until from secret where ${OF_SCOPE} and valid_until > now()`,
    [scope.organizationId, scope.endpointId],
  );
  return rows[0]?.until ?? null;
}

export async function insertSecret(
  tx: SqlExecutor,
  scope: SecretScope,
  ciphertext: Buffer,
  validUntil: Date | null,
): Promise<void> {
  await tx.query(
    `insert into secret (organization_id, endpoint_id, id, ciphertext, created_at, valid_until)
     values ($1, $2, $3, $4, now(), $5)`,
    [scope.organizationId, scope.endpointId, uuidv7(), ciphertext, validUntil],
  );
}

/** Turns the current secret into an earlier one, and deletes expired ones and those beyond the limit. */
export async function retireCurrent(
  tx: SqlExecutor,
  scope: SecretScope,
  validUntil: Date,
): Promise<void> {
  const values = [scope.organizationId, scope.endpointId];
  await tx.query(`update secret set valid_until = $3 where ${OF_SCOPE} and valid_until is null`, [
    ...values,
    validUntil,
  ]);
  await forgetEarlier(tx, scope);
}

export async function forgetEarlier(tx: SqlExecutor, scope: SecretScope): Promise<void> {
  await tx.query(
    `delete from secret
      where ${OF_SCOPE}
        and id in (select id
                     from (select id, valid_until,
                                  row_number() over (order by valid_until desc, id desc) as rank
                             from secret where ${OF_SCOPE} and valid_until is not null) earlier
                    where rank > ${MAX_EARLIER_SECRETS} or valid_until <= now())`,
    [scope.organizationId, scope.endpointId],
  );
}
