import { newSecret, parseSecret } from '@dak/formats/standard-webhooks';
import { InvalidError } from '@dak/kernel';
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
export const DEFAULT_OVERLAP_HOURS = 24;
const MAX_OVERLAP_HOURS = 168;

/**
 * Sets the secret of a scope, given or made. The one so far signs too for the overlap; of an endpoint
 * that had none of its own, that is the organization's.
 * @throws InvalidError when the secret or the overlap is not acceptable
 */
export async function replaceSecret(
  tx: SqlExecutor,
  sealing: Sealing,
  scope: SecretScope,
  wanted: { secret?: string | undefined; overlapHours?: number | undefined },
  now: number,
): Promise<WebhookSecretRecord> {
  const hours = wanted.overlapHours ?? DEFAULT_OVERLAP_HOURS;
  if (!Number.isInteger(hours) || hours < 0 || hours > MAX_OVERLAP_HOURS) {
    throw new InvalidError(`overlap_hours must be an integer from 0 to ${MAX_OVERLAP_HOURS}.`);
  }
  const secret = wanted.secret ?? newSecret();
  parseSecret(secret);
  await lockSecrets(tx, scope.organizationId);
  const validUntil = new Date(now + hours * HOUR_MS);
  const current = await selectCurrent(tx, scope);
  if (current !== null) await retireCurrent(tx, scope, validUntil);
  else if (scope.endpointId !== null && hours > 0) {
    const shared = await selectCurrent(tx, { ...scope, endpointId: null });
    if (shared !== null) await insertSecret(tx, scope, shared.ciphertext, validUntil);
    await forgetEarlier(tx, scope);
  }
  await insertSecret(tx, scope, sealing.seal(secret, scope.organizationId), null);
  return { secret, previous_valid_until: await selectOverlapEnd(tx, scope) };
}

/** The organization has a secret from its first endpoint on; an administrator can replace it to know it. */
export async function ensureTenantSecret(
  tx: SqlExecutor,
  sealing: Sealing,
  organizationId: string,
): Promise<void> {
  const scope = { organizationId, endpointId: null };
  await lockSecrets(tx, organizationId);
  if ((await selectCurrent(tx, scope)) !== null) return;
  await insertSecret(tx, scope, sealing.seal(newSecret(), organizationId), null);
}
