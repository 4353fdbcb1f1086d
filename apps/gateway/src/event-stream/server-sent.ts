import type { FeedItem } from './feed-item';

/** Milliseconds after which a client connects again. */
const RETRY_MS = 2_000;

/** Why a stream ends or lacks events; the names are part of the API. */
export type Notice = 'reset' | 'close' | 'unauthorized';

/** The first bytes, which also show proxies that there is a body. */
export const PREAMBLE = `retry: ${RETRY_MS}\n: Dak event stream\n\n`;
export const HEARTBEAT = ': still here\n\n';

/** One event (HTML Living Standard §9.2.6). JSON has no line breaks; ids and kinds are ours. */
export function itemText({ eventId, type, body }: FeedItem): string {
  return `id: ${eventId}\nevent: ${type}\ndata: ${body}\n\n`;
}

/** A position that a client stores as its last event id although it received no event. */
export function placeText(id: string): string {
  return `id: ${id}\n\n`;
}

export function noticeText(notice: Notice, data: Readonly<Record<string, unknown>>): string {
  return `event: ${notice}\ndata: ${JSON.stringify(data)}\n\n`;
}
