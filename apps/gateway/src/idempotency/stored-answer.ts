import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import type { RouteReply } from '../http/route';

export type StorableReply = Pick<RouteReply, 'status' | 'body' | 'version' | 'headers'>;

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The key is stored as its hash: reading the table does not allow repeating the request. */
export function keyHash(key: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHash('sha256').update(key).digest());
}

/**
 * Seals an answer under a key made from the server's secret and the client's Idempotency-Key, which
 * is itself not stored: some answers contain values shown only once.
 */
export function sealAnswer(
  secret: Uint8Array,
  key: string,
  reply: StorableReply,
): Buffer<ArrayBuffer> {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', sealingKey(secret, key), nonce);
  const text = JSON.stringify({
    status: reply.status,
    body: reply.body,
    version: reply.version,
    headers: reply.headers,
  });
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

export function openAnswer(secret: Uint8Array, key: string, sealed: Uint8Array): StorableReply {
  const bytes = Buffer.from(sealed);
  const decipher = createDecipheriv(
    'aes-256-gcm',
    sealingKey(secret, key),
    bytes.subarray(0, NONCE_BYTES),
  );
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  const text = Buffer.concat([
    decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)),
    decipher.final(),
  ]);
  return JSON.parse(text.toString('utf8')) as StorableReply;
}

function sealingKey(secret: Uint8Array, key: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, key, 'dak idempotent answer', 32));
}
