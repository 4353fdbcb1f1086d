import { InvalidError } from '@dak/kernel';
import { nextOpening, type SendWindow } from './send-window';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const MIN_SEND_AHEAD_MS = MINUTE;
const MAX_SEND_AHEAD_MS = 180 * DAY;

/** Why a submission does not go out at once, and until when (milliseconds since the epoch). */
export interface Hold {
  readonly reason: 'scheduled' | 'undo';
  readonly until: number;
}

export interface SendTime {
  /** Milliseconds since the epoch; null = as soon as the hold allows. */
  readonly sendAt: number | null;
  readonly undoUntil: number | null;
  readonly hold: Hold | null;
}

export interface SendTimeRequest {
  /** RFC 3339 */
  readonly sendAt: string | null;
  readonly window: SendWindow | null;
  /** null = not said */
  readonly undoSeconds: number | null;
}

/**
 * When a submission may leave. A person's mail waits the mailbox's undo time; a program, which cannot
 * press a button, gets a wait only when it asks for one. Scheduled mail can be canceled until it is
 * due and gets no further wait.
 *
 * @param defaultUndoSeconds What holds when the request does not say.
 * @throws InvalidError `invalid_send_at`
 */
export function decideSendTime(
  request: SendTimeRequest,
  defaultUndoSeconds: number,
  now: number,
): SendTime {
  const undoSeconds = request.undoSeconds ?? defaultUndoSeconds;
  const asked = request.sendAt === null ? null : parseSendAt(request.sendAt, now);
  const earliest = asked ?? now;
  const opening = request.window === null ? earliest : nextOpening(request.window, earliest);
  const sendAt = asked !== null || opening > now ? opening : null;
  if (sendAt !== null) {
    return { sendAt, undoUntil: null, hold: { reason: 'scheduled', until: sendAt } };
  }
  if (undoSeconds === 0) return { sendAt: null, undoUntil: null, hold: null };
  const undoUntil = now + undoSeconds * 1000;
  return { sendAt: null, undoUntil, hold: { reason: 'undo', until: undoUntil } };
}

/** @throws InvalidError `invalid_send_at` when it is in the past, nearer than a minute or further than 180 days */
export function parseSendAt(text: string, now: number): number {
  const at = Date.parse(text);
  if (at < now + MIN_SEND_AHEAD_MS || at > now + MAX_SEND_AHEAD_MS) {
    throw new InvalidError(
      'send_at must lie between 1 minute and 180 days ahead. Leave it out to send now.',
      'invalid_send_at',
    );
  }
  return at;
}
