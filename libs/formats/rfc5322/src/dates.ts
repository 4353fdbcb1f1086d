import { withoutComments } from './comments';

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** Minutes east of UTC. RFC 5322 §4.3: every other alphabetic zone counts as -0000. */
const ZONES = new Map([
  ['edt', -240],
  ['est', -300],
  ['cdt', -300],
  ['cst', -360],
  ['mdt', -360],
  ['mst', -420],
  ['pdt', -420],
  ['pst', -480],
]);

const TIME = String.raw`(?<hour>\d{1,2})\s*[:.]\s*(?<minute>\d{1,2})(?:\s*[:.]\s*(?<second>\d{1,2})(?:[.,]\d{1,9})?)?(?:\s*(?<half>[ap])\.?m\b\.?)?`;
const ZONE = String.raw`(?:\s*(?<zone>[+-]\d{1,2}:?\d{2}|[a-z]{1,5}(?![a-z])(?:\s*[+-]\d{4})?))?`;
const RFC_5322 = new RegExp(
  String.raw`(?<day>\d{1,2})[\s.-]+(?<month>[a-z]{3,9})\.?[\s.,-]+(?<year>\d{2,4})[\s,-]+${TIME}${ZONE}`,
  'i',
);
const ISO_8601 = new RegExp(
  String.raw`(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})[t\s]+${TIME}${ZONE}`,
  'i',
);
const ASCTIME = new RegExp(
  String.raw`(?<month>[a-z]{3,9})\s+(?<day>\d{1,2})\s+${TIME}\s+(?:(?<zone>[a-z]{1,5})\s+)?(?<year>\d{4})(?:\s+(?<offset>[+-]\d{4}))?`,
  'i',
);

/**
 * A date-time (RFC 5322 §3.3 and the obsolete forms of §4.3, also asctime and ISO 8601) as RFC 3339
 * in UTC with seconds; null when unreadable. A missing zone counts as UTC.
 */
export function parseDate(value: string): string | null {
  const text = withoutComments(value).slice(0, 200);
  const groups = [RFC_5322, ISO_8601, ASCTIME].reduce<Record<string, string | undefined> | null>(
    (found, form) => found ?? form.exec(text)?.groups ?? null,
    null,
  );
  return groups === null ? null : toUtc(groups);
}

function toUtc(groups: Record<string, string | undefined>): string | null {
  const year = fullYear(groups['year']);
  const month = monthNumber(groups['month']);
  const day = Number(groups['day']);
  const minute = Number(groups['minute']);
  const second = Number(groups['second'] ?? '0');
  let hour = Number(groups['hour']);
  const half = groups['half']?.toLowerCase();
  if (half !== undefined) hour = (hour % 12) + (half === 'p' ? 12 : 0);
  if (month < 0 || month > 11 || day < 1 || hour > 24 || minute > 59 || second > 60) return null;
  if (day > new Date(Date.UTC(year, month + 1, 0)).getUTCDate()) return null;
  const minutes = minute - offsetMinutes(groups['offset'] ?? groups['zone']);
  // A leap second has no place in a JavaScript date.
  const date = new Date(Date.UTC(year, month, day, hour, minutes, Math.min(second, 59)));
  if (Number.isNaN(date.getTime())) return null;
  if (date.getUTCFullYear() < 1 || date.getUTCFullYear() > 9999) return null;
  return date.toISOString().replace('.000Z', 'Z');
}

/** RFC 5322 §4.3: 00–49 are this century, 50–99 and three digits count from 1900. */
function fullYear(text = ''): number {
  const year = Number(text);
  if (text.length === 2) return year < 50 ? 2000 + year : 1900 + year;
  return text.length === 3 ? 1900 + year : year;
}

function monthNumber(name = ''): number {
  if (/^\d/.test(name)) return Number(name) - 1;
  return MONTHS.indexOf(name.slice(0, 3).toLowerCase());
}

function offsetMinutes(zone: string | undefined): number {
  if (zone === undefined) return 0;
  const numeric = /([+-])(\d{1,2}):?(\d{2})$/.exec(zone);
  if (!numeric) return ZONES.get(zone.toLowerCase()) ?? 0;
  const minutes = Number(numeric[2]) * 60 + Number(numeric[3]);
  return numeric[1] === '-' ? -minutes : minutes;
}
