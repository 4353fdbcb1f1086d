import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { NotFoundError } from '@dak/kernel';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

interface Sealed<T> {
  /** Milliseconds since the epoch. */
  expiresAt: number;
  content: T;
}

/**
 * A ticket for one act, to be carried in a public URL: AES-256-GCM, so that only Dak can create or read
 * one.
 * @param key 32 bytes, the same on every replica
 * @param purpose A ticket for one purpose opens nothing else.
 */
export function sealTicket<T>(key: Uint8Array, purpose: string, ticket: Sealed<T>): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(purpose));
  const body = Buffer.concat([cipher.update(JSON.stringify(ticket)), cipher.final()]);
  return Buffer.concat([nonce, body, cipher.getAuthTag()]).toString('base64url');
}

/** @throws NotFoundError for a forged, altered, foreign or expired ticket: indistinguishable for its holder */
export function openTicket<T>(key: Uint8Array, purpose: string, text: string, now: number): T {
  const bytes = Buffer.from(text, 'base64url');
  const what = 'link';
  if (bytes.length <= NONCE_BYTES + TAG_BYTES) throw new NotFoundError(what);
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES))
      .setAAD(Buffer.from(purpose))
      .setAuthTag(bytes.subarray(-TAG_BYTES));
    const body = bytes.subarray(NONCE_BYTES, -TAG_BYTES);
    const text = Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
    const { expiresAt, content } = JSON.parse(text) as Sealed<T>;
    if (expiresAt > now) return content;
  } catch {
    // Not ours, or not whole.
  }
  throw new NotFoundError(what);
}
