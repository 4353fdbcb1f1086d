import { isUuid } from '@dak/kernel';
import { openTicket, sealTicket } from '../http/sealed-ticket';

const PURPOSE = 'place in the event stream';
const PREFIX = 'pos_';
const DAY_MS = 86_400_000;

/**
 * The position after which a client resumes: an event it received, or a position it was sent
 * while there was no event it may see (encrypted, as it would reveal how many events there are).
 */
export type StreamPlace =
  | { readonly kind: 'event'; readonly eventId: string }
  | { readonly kind: 'position'; readonly position: number }
  /** Not ours, or not of this organization. */
  | { readonly kind: 'unknown' };

export function parsePlace(
  text: string,
  organizationId: string,
  key: Uint8Array,
  now: number,
): StreamPlace {
  if (text.startsWith('evt_') && isUuid(text.slice(4))) return { kind: 'event', eventId: text };
  if (!text.startsWith(PREFIX)) return { kind: 'unknown' };
  try {
    const { o, p } = openTicket<{ o: string; p: number }>(
      key,
      PURPOSE,
      text.slice(PREFIX.length),
      now,
    );
    return o === organizationId ? { kind: 'position', position: p } : { kind: 'unknown' };
  } catch {
    return { kind: 'unknown' };
  }
}

export function sealPlace(
  organizationId: string,
  position: number,
  key: Uint8Array,
  now: number,
): string {
  const content = { o: organizationId, p: position };
  return PREFIX + sealTicket(key, PURPOSE, { expiresAt: now + 30 * DAY_MS, content });
}
