import type { PublicEvent } from './public-event';

/** Receivers get to know that something happened; whole records are fetched through the API. */
export const MAX_EVENT_BYTES = 20_480;

/** From mildest to strictest; the last one fits whatever comes. */
const LIMITS = [
  { characters: 2_000, items: 100 },
  { characters: 500, items: 25 },
  { characters: 120, items: 5 },
  { characters: 40, items: 1 },
] as const;

/**
 * The JSON of an event, in UTF-8 and without line breaks: what every attempt of a webhook sends and
 * signs, and what the event stream carries. Long texts and lists in `data` are cut as far as is
 * needed to stay below 20 KiB, which `data.truncated` says then.
 */
export function eventBody(event: PublicEvent): Buffer {
  const whole = Buffer.from(JSON.stringify(event), 'utf8');
  if (whole.length <= MAX_EVENT_BYTES) return whole;
  for (const limit of LIMITS) {
    const data = cut(event.data, limit) as Record<string, unknown>;
    const body = Buffer.from(JSON.stringify({ ...event, data: { ...data, truncated: true } }));
    if (body.length <= MAX_EVENT_BYTES) return body;
  }
  const { mailbox_id, department_id, conversation_id, message_id, actor } = event.data;
  const data = { mailbox_id, department_id, conversation_id, message_id, actor, truncated: true };
  return Buffer.from(JSON.stringify({ ...event, data }), 'utf8');
}

function cut(value: unknown, limit: { characters: number; items: number }): unknown {
  if (typeof value === 'string') {
    return value.length > limit.characters ? `${value.slice(0, limit.characters)}…` : value;
  }
  if (Array.isArray(value)) return value.slice(0, limit.items).map((item) => cut(item, limit));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cut(item, limit)]));
}
