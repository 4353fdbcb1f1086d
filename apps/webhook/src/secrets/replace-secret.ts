import { newSecret, parseSecret } from '@dak/formats/standard-webhooks';
import type { WebhookSecretRecord } from '@dak/contracts/api';
import type { SqlExecutor } from '@dak/platform/postgres';
import type { Sealing } from './sealing';
import {
  forgetEarlier,
  insertSecret,
  lockSecrets,
  retireCurrent,
  selectCurrent,
  selectOverlapEnd,
  type SecretScope,
} from './secret-store';

const HOUR_MS = 3_600_000;

/**
 * Sets the secret of a scope: the given one or a new one. During the overlap the former secret signs too; for an endpoint
 * without a secret of its own that is the organization's.
 * @throws InvalidError for a secret that is not a Standard Webhooks secret
 */
export async function replaceSecret(
  tx: SqlExecutor,
  sealing: Sealing,
  scope: SecretScope,
  wanted: { secret?: string | undefined; overlap_hours: number },
  now: number,
): Promise<WebhookSecretRecord> {
  const secret = wanted.secret ?? newSecret();
  parseSecret(secret);
  await lockSecrets(tx, scope.organizationId);
  const validUntil = new Date(now + wanted.overlap_hours * HOUR_MS);
  const current = await selectCurrent(tx, scope);
  if (current !== null) await retireCurrent(tx, scope, validUntil);
  else if (scope.endpointId !== null && wanted.overlap_hours > 0) {
    const shared = await selectCurrent(tx, { ...scope, endpointId: null });
    if (shared !== null) await insertSecret(tx, scope, shared.ciphertext, validUntil);
    await forgetEarlier(tx, scope);
  }
  await insertSecret(tx, scope, sealing.seal(secret, scope.organizationId), null);
  return { secret, previous_valid_until: await selectOverlapEnd(tx, scope) };
}

/** Gives the organization a secret with its first endpoint; an administrator can replace it to learn it. */
export async function ensureOrganizationSecret(
  tx: SqlExecutor,
  sealing: Sealing,
  organizationId: string,
): Promise<void> {
  const scope = { organizationId, endpointId: null };
  await lockSecrets(tx, organizationId);
  if ((await selectCurrent(tx, scope)) !== null) return;
  await insertSecret(tx, scope, sealing.seal(newSecret(), organizationId), null);
}
