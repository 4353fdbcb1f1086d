import { InvalidError } from '@dak/kernel';

const MAX_BYTES = 256 * 1024;

/** @throws InvalidError unless `json` is a JSON array; empty bytes are an empty one */
export function jsonList(field: string, json: Uint8Array): unknown[] {
  if (json.length === 0) return [];
  if (json.length > MAX_BYTES) {
    throw new InvalidError(`${field} must have at most ${MAX_BYTES} bytes altogether.`);
  }
  let parsed: unknown = null;
  try {
    parsed = JSON.parse(Buffer.from(json).toString('utf8'));
  } catch {
    // Said below.
  }
  if (!Array.isArray(parsed)) throw new InvalidError(`${field} must be a list.`);
  return parsed;
}

/**
 * The members of an object, which may have no others: a mistyped one must not be left out in silence
 * where it decides what is done with mail.
 * @throws InvalidError
 */
export function membersOf(
  at: string,
  item: unknown,
  known: readonly string[],
): Readonly<Record<string, unknown>> {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) {
    throw new InvalidError(`${at} must be an object.`);
  }
  const unknown = Object.keys(item).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new InvalidError(
      `${at}.${unknown.slice(0, 80)} is not a member of it: use ${known.join(', ')}.`,
    );
  }
  return item as Record<string, unknown>;
}
