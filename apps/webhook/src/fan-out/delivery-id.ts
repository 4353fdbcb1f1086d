import { createHash } from 'node:crypto';
import { InvalidError, isUuid } from '@dak/kernel';

const EVENT_PREFIX = 'evt_';

/**
 * Computes the id of a delivery, so that fanning out or replaying an event again gives the same row. It has
 * the form of a UUIDv7 (RFC 9562 §5.7) with the time of `timeOf`, so that ids sort by time.
 * @param timeOf the UUIDv7 of the event, or of the replay
 * @param parts what else identifies the delivery
 */
export function deliveryId(timeOf: string, ...parts: readonly string[]): string {
  const hash = createHash('sha256').update(timeOf);
  for (const part of parts) hash.update('\n').update(part);
  const hex = hash.digest('hex');
  const variant = ((parseInt(hex.slice(3, 5), 16) & 0x3f) | 0x80).toString(16);
  return `${timeOf.slice(0, 13).toLowerCase()}-7${hex.slice(0, 3)}-${variant}${hex.slice(5, 7)}-${hex.slice(7, 19)}`;
}

/** The UUID in an event id. @throws InvalidError when it is not `evt_` and a UUID */
export function uuidOfEvent(eventId: string): string {
  const uuid = eventId.slice(EVENT_PREFIX.length);
  if (!eventId.startsWith(EVENT_PREFIX) || !isUuid(uuid)) {
    throw new InvalidError(`The event id ${eventId} is not evt_ and a UUID.`, 'undecodable');
  }
  return uuid;
}

/** The least id of a time, the inclusive bound of a range. @param at milliseconds since the epoch */
export function leastIdOf(at: number): string {
  const time = Math.max(0, at).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}
