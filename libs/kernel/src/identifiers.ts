import { randomFillSync, randomUUID } from 'node:crypto';

const POOL_SIZE = 4096;
const pool = Buffer.alloc(POOL_SIZE);
let poolOffset = POOL_SIZE;
let lastMilliseconds = 0;
let counter = 0;

/**
 * A time-ordered id (RFC 9562 §5.7). Ids of one process are strictly increasing: the 12 bits after
 * the version count within one millisecond (§6.2, method 1).
 */
export function uuidv7(now: number = Date.now()): string {
  if (poolOffset + 10 > POOL_SIZE) {
    randomFillSync(pool);
    poolOffset = 0;
  }
  let milliseconds = now;
  if (milliseconds <= lastMilliseconds) {
    milliseconds = lastMilliseconds;
    counter += 1;
    if (counter > 0xfff) {
      milliseconds += 1;
      counter = pool[poolOffset]! & 0x3f;
    }
  } else {
    counter = pool[poolOffset]! & 0x3f;
  }
  lastMilliseconds = milliseconds;
  const time = milliseconds.toString(16).padStart(12, '0');
  const sequence = counter.toString(16).padStart(3, '0');
  const variant = ((pool[poolOffset + 1]! & 0x3f) | 0x80).toString(16);
  const tail = pool.toString('hex', poolOffset + 2, poolOffset + 9);
  poolOffset += 10;
  return `${time.slice(0, 8)}-${time.slice(8)}-7${sequence}-${variant}${tail.slice(0, 2)}-${tail.slice(2)}`;
}

/** A random id (RFC 9562 §5.4), for ids that are themselves public and must not tell their age. */
export function uuidv4(): string {
  return randomUUID();
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value);
}
