import { randomBytes } from 'node:crypto';
import { InvalidError } from '@dak/kernel';

const PREFIX = 'whsec_';
const LEAST_BYTES = 24;
const MOST_BYTES = 64;
/** As long as the output of SHA-256. */
const NEW_SECRET_BYTES = 32;
const CANONICAL_BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** A fresh symmetric secret, `whsec_` + base64 of 32 random bytes. */
export function newSecret(): string {
  return PREFIX + randomBytes(NEW_SECRET_BYTES).toString('base64');
}

/**
 * The key of a symmetric Standard Webhooks secret, 24 to 64 bytes.
 * @param text `whsec_` and standard base64 with padding
 * @throws InvalidError when it is not; the sentence never repeats the text
 */
export function parseSecret(text: string): Buffer {
  const encoded = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : null;
  if (encoded === null || encoded === '' || !CANONICAL_BASE64.test(encoded)) {
    throw new InvalidError(
      'secret must be "whsec_" followed by base64 with padding, as made by: printf whsec_; openssl rand -base64 32',
      'invalid_secret',
    );
  }
  const key = Buffer.from(encoded, 'base64');
  if (key.length < LEAST_BYTES || key.length > MOST_BYTES) {
    throw new InvalidError(
      `secret must encode ${LEAST_BYTES} to ${MOST_BYTES} bytes, this one encodes ${key.length}.`,
      'invalid_secret',
    );
  }
  return key;
}
