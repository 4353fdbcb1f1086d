import type { Principal } from '@dak/kernel';
import type { IdempotencyKey } from '@dak/platform/grpc';
import type { GatewayTransaction } from '../database/gateway-store';
import { keyHash } from './stored-answer';

/** Answer of a request, if kept until after `now`. */
export function selectAnswer(
  { db }: GatewayTransaction,
  { organizationId, credentialId }: Principal,
  { key, route }: Pick<IdempotencyKey, 'key' | 'route'>,
  now: Date,
): Promise<{ requestHash: string; answer: Uint8Array } | null> {
  return db.idempotencyRecord.findFirst({
    where: { organizationId, credentialId, route, keyHash: keyHash(key), expiresAt: { gt: now } },
    select: { requestHash: true, answer: true },
  });
}

/** Replaces an expired one. */
export async function insertAnswer(
  { db }: GatewayTransaction,
  { organizationId, credentialId }: Principal,
  { key, route, requestHash }: IdempotencyKey,
  answered: { status: number; answer: Uint8Array<ArrayBuffer>; expiresAt: Date },
): Promise<void> {
  const id = { organizationId, credentialId, route, keyHash: keyHash(key) };
  const answer = { ...answered, requestHash };
  await db.idempotencyRecord.upsert({
    where: { organizationId_credentialId_route_keyHash: id },
    create: { ...id, ...answer },
    update: answer,
  });
}
