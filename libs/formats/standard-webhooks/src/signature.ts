import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto';

/** What is signed: `id.timestamp.body`, byte for byte. */
export interface SignedContent {
  /** `webhook-id`, without a full stop. */
  readonly id: string;
  /** `webhook-timestamp`: seconds since the epoch, of this attempt. */
  readonly timestamp: number;
  readonly body: Uint8Array | string;
}

/** How far a timestamp may be from now, in either direction, as the reference libraries have it. */
export const DEFAULT_TOLERANCE_SECONDS = 300;

const VERSION = 'v1';

export type Verification =
  | { readonly valid: true }
  | {
      readonly valid: false;
      readonly reason:
        | 'no_matching_signature'
        | 'too_old'
        | 'too_new'
        | 'malformed_header'
        | 'malformed_timestamp';
    };

/**
 * `webhook-signature`: one `v1,` signature per secret, separated by spaces, in the order given. While
 * a secret is being replaced, both are given, and receivers accept any that matches.
 * @param secrets keys as of `parseSecret`, at least one; as a `KeyObject` (`createSecretKey`) a key that
 *   signs often takes a fifth of the time
 */
export function signatureHeader(
  content: SignedContent & { secrets: readonly (Uint8Array | KeyObject)[] },
): string {
  if (content.secrets.length === 0)
    throw new RangeError('signatureHeader needs at least one secret');
  if (content.id.includes('.')) throw new RangeError('a webhook-id cannot contain a full stop');
  return content.secrets
    .map((secret) => `${VERSION},${sign(secret, content).toString('base64')}`)
    .join(' ');
}

/**
 * Whether a signature in `webhook-signature` was made with one of the secrets, and the timestamp is
 * within the tolerance. Signatures of other versions are passed over.
 * @param headers the three headers as received
 * @param now seconds since the epoch
 */
export function verifySignature(request: {
  readonly headers: { readonly id: string; readonly timestamp: string; readonly signature: string };
  readonly body: Uint8Array | string;
  readonly secrets: readonly Uint8Array[];
  readonly now: number;
  readonly toleranceSeconds?: number;
}): Verification {
  const { headers, body, secrets, now } = request;
  const tolerance = request.toleranceSeconds ?? DEFAULT_TOLERANCE_SECONDS;
  if (headers.id === '' || headers.signature.trim() === '') {
    return { valid: false, reason: 'malformed_header' };
  }
  if (!/^\d{1,12}$/.test(headers.timestamp)) return { valid: false, reason: 'malformed_timestamp' };
  const timestamp = Number(headers.timestamp);
  if (timestamp < now - tolerance) return { valid: false, reason: 'too_old' };
  if (timestamp > now + tolerance) return { valid: false, reason: 'too_new' };

  const given = headers.signature
    .split(' ')
    .filter((entry) => entry.startsWith(`${VERSION},`))
    .map((entry) => Buffer.from(entry.slice(VERSION.length + 1), 'base64'));
  const isMatch = secrets.some((secret) => {
    const expected = sign(secret, { id: headers.id, timestamp, body });
    return given.some((one) => one.length === expected.length && timingSafeEqual(one, expected));
  });
  return isMatch ? { valid: true } : { valid: false, reason: 'no_matching_signature' };
}

function sign(secret: Uint8Array | KeyObject, { id, timestamp, body }: SignedContent): Buffer {
  return createHmac('sha256', secret).update(`${id}.${timestamp}.`).update(body).digest();
}
