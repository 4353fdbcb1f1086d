import type { Principal } from '@dak/kernel';
import type { IdempotencyKey } from '@dak/platform/grpc';
import type { GatewayTransaction } from '../database/gateway-store';
import { keyHash } from './stored-answer';

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

export async function selectAnswer(
  tx: GatewayTransaction,
  { organizationId, credentialId }: Principal,
  { key, route }: Pick<IdempotencyKey, 'key' | 'route'>,
  now: string,
): Promise<{ requestHash: string; answer: Uint8Array } | null> {
  const { rows } = await tx.query<{ requestHash: string; answer: Uint8Array }>(FIND, [
    ...[organizationId, credentialId, route, keyHash(key), now],
  ]);
  return rows[0] ?? null;
}

export async function insertAnswer(
  tx: GatewayTransaction,
  { organizationId, credentialId }: Principal,
  { key, route, requestHash }: IdempotencyKey,
  { status, answer, expiresAt }: { status: number; answer: Uint8Array; expiresAt: string },
): Promise<void> {
  await tx.query(STORE, [
    ...[organizationId, credentialId, route],
    ...[keyHash(key), requestHash, status],
    answer,
    expiresAt,
  ]);
}
