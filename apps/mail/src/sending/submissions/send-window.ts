import type { SendWindowFields } from '@dak/contracts/api';

/** In the order of `getUTCDay`. */
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;

/** When mail may leave, in the recipient's local time. `to` at or before `from` is on the next day. */
export interface SendWindow {
  /** IANA name */
  readonly timeZone: string;
  readonly days: SendWindowFields['days'];
  /** HH:MM */
  readonly from: string;
  readonly to: string;
}

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** `at` itself when it lies in the window, else the next opening. Milliseconds since the epoch. */
export function nextOpening(window: SendWindow, at: number): number {
  const offset = offsetAt(window.timeZone, at);
  const today = Math.floor((at + offset) / DAY) * DAY;
  // From yesterday on, whose window may reach past midnight.
  for (let day = -1; day <= 8; day += 1) {
    const midnight = today + day * DAY;
    if (!window.days.includes(DAYS[new Date(midnight).getUTCDay()]!)) continue;
    const from = minutes(window.from);
    const to = minutes(window.to);
    const opens = toInstant(window.timeZone, midnight + from * MINUTE);
    const closes = toInstant(window.timeZone, midnight + to * MINUTE + (to <= from ? DAY : 0));
    if (at < closes) return Math.max(at, opens);
  }
  return at;
}

function minutes(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
}

/** The instant of a local wall-clock time; in the hour that spring skips, the time that far after it. */
function toInstant(timeZone: string, local: number): number {
  const before = local - offsetAt(timeZone, local - DAY);
  const after = local - offsetAt(timeZone, local + DAY);
  const [earlier, later] = before <= after ? [before, after] : [after, before];
  if (earlier + offsetAt(timeZone, earlier) === local) return earlier;
  if (later + offsetAt(timeZone, later) === local) return later;
  return before;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Local time minus UTC, in milliseconds. */
function offsetAt(timeZone: string, at: number): number {
  let format = formats.get(timeZone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'iso8601',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formats.set(timeZone, format);
  }
  const parts: Record<string, number> = {};
  for (const { type, value } of format.formatToParts(at)) parts[type] = Number(value);
  const local = Date.UTC(
    parts['year']!,
    parts['month']! - 1,
    parts['day'],
    parts['hour'],
    parts['minute'],
    parts['second'],
  );
  return local - Math.floor(at / 1000) * 1000;
}
