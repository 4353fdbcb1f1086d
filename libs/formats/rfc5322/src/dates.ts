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

const TIME = String.raw`(\d{1,2})[:.](\d{1,2})(?:[:.](\d{1,2})(?:[.,]\d{1,9})?)?(?:\s*([ap])\.?m\b\.?)?`;
const ZONE = String.raw`(?:\s*([+-]\d{1,2}:?\d{2}|[A-Za-z]{1,5}(?![A-Za-z])(?:\s*[+-]\d{4})?))?`;
const RFC_5322 = new RegExp(
  String.raw`(\d{1,2})[\s.-]+([A-Za-z]{3,9})\.?[\s.,-]+(\d{2,4})[\s,-]+${TIME}${ZONE}`,
);
const ASCTIME = new RegExp(
  String.raw`([A-Za-z]{3,9})\s+(\d{1,2})\s+${TIME}\s+(?:([A-Za-z]{1,5})\s+)?(\d{4})(?:\s+([+-]\d{4}))?`,
);
const ISO_8601 = new RegExp(String.raw`(\d{4})-(\d{2})-(\d{2})[T\s]+${TIME}${ZONE}`);

/**
 * A date-time (RFC 5322 §3.3 and the obsolete forms of §4.3, also asctime and ISO 8601) as RFC 3339
 * in UTC with seconds; null when unreadable. A missing zone counts as UTC.
 */
export function parseDate(value: string): string | null {
  const text = withoutComments(value).slice(0, 200);
  const rfc = RFC_5322.exec(text);
  if (rfc) {
    const [, day, month, year, hour, minute, second, half, zone] = rfc;
    return toUtc(fullYear(year), monthNumber(month), day, hour, minute, second, half, zone);
  }
  const iso = ISO_8601.exec(text);
  if (iso) {
    const [, year, month, day, hour, minute, second, half, zone] = iso;
    return toUtc(Number(year), Number(month) - 1, day, hour, minute, second, half, zone);
  }
  const asctime = ASCTIME.exec(text);
  if (asctime) {
    const [, month, day, hour, minute, second, half, name, year, offset] = asctime;
    return toUtc(Number(year), monthNumber(month), day, hour, minute, second, half, offset ?? name);
  }
  return null;
}

function toUtc(
  year: number,
  month: number,
  dayText: string | undefined,
  hourText: string | undefined,
  minuteText: string | undefined,
  secondText: string | undefined,
  half: string | undefined,
  zone: string | undefined,
): string | null {
  const day = Number(dayText);
  const minute = Number(minuteText);
  // A leap second has no place in a JavaScript date.
  const second = Math.min(Number(secondText ?? '0'), 59);
  let hour = Number(hourText);
  if (half !== undefined) hour = (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
  if (month < 0 || month > 11 || day < 1 || hour > 24 || minute > 59) return null;
  if (Number(secondText ?? '0') > 60) return null;
  if (day > new Date(Date.UTC(year, month + 1, 0)).getUTCDate()) return null;
  const date = new Date(Date.UTC(year, month, day, hour, minute - offsetMinutes(zone), second));
  const time = date.getTime();
  if (Number.isNaN(time) || date.getUTCFullYear() < 1 || date.getUTCFullYear() > 9999) return null;
  return date.toISOString().replace('.000Z', 'Z');
}

/** RFC 5322 §4.3: 00–49 are this century, 50–99 and three digits count from 1900. */
function fullYear(text = ''): number {
  const year = Number(text);
  if (text.length === 2) return year < 50 ? 2000 + year : 1900 + year;
  return text.length === 3 ? 1900 + year : year;
}

function monthNumber(name = ''): number {
  return MONTHS.indexOf(name.slice(0, 3).toLowerCase());
}

function offsetMinutes(zone: string | undefined): number {
  if (zone === undefined) return 0;
  const numeric = /([+-])(\d{1,2}):?(\d{2})$/.exec(zone);
  if (!numeric) return ZONES.get(zone.toLowerCase()) ?? 0;
  const minutes = Number(numeric[2]) * 60 + Number(numeric[3]);
  return numeric[1] === '-' ? -minutes : minutes;
}

function withoutComments(value: string): string {
  if (!value.includes('(')) return value;
  let depth = 0;
  let text = '';
  for (const character of value.slice(0, 1000)) {
    if (character === '(') depth += 1;
    else if (character === ')') depth = Math.max(0, depth - 1);
    else if (depth === 0) text += character;
  }
  return text;
}
