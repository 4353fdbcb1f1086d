import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

const PREFIX = 'svc_live_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 62^43 is the first power of 62 above 2^256. */
const SECRET_LENGTH = 43;
/** 62^6 is above 2^32. */
const CHECKSUM_LENGTH = 6;
const SHAPE = new RegExp(`^${PREFIX}[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`);
const SHOWN_SECRET = 6;

/** `svc_live_`, 32 random bytes in base 62 and a CRC-32 of what stands before it. */
export function formatApiKey(secret: Uint8Array): string {
  const body = PREFIX + base62(BigInt(`0x${Buffer.from(secret).toString('hex')}`), SECRET_LENGTH);
  return body + checksum(body);
}

export function newApiKey(): string {
  return formatApiKey(randomBytes(32));
}

/** True for text with a valid checksum: tells a typo from an unknown key without a lookup. */
export function isWellFormedApiKey(text: string): boolean {
  if (!SHAPE.test(text)) return false;
  const body = text.slice(0, -CHECKSUM_LENGTH);
  return timingSafeEqual(Buffer.from(checksum(body)), Buffer.from(text.slice(-CHECKSUM_LENGTH)));
}

export function hasApiKeyPrefix(text: string): boolean {
  return text.startsWith(PREFIX);
}

/** What is stored instead of the key; 256 random bits need no slow hash. */
export function hashApiKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** What lists show of a key. */
export function displayPrefix(key: string): string {
  return key.slice(0, PREFIX.length + SHOWN_SECRET);
}

function checksum(body: string): string {
  return base62(BigInt(crc32(body)), CHECKSUM_LENGTH);
}

function base62(value: bigint, width: number): string {
  let text = '';
  for (let rest = value; text.length < width; rest /= 62n) {
    text = ALPHABET[Number(rest % 62n)]! + text;
  }
  return text;
}
