import { ATTRIBUTION_LANGUAGES } from './attribution-languages';

/** A line, or a few wrapped ones, that introduces quoted mail ("On … Anna <…> wrote:"). */
export interface Attribution {
  /** Number of lines it takes. */
  lines: number;
  /** Characters of the first line that stand before it and belong to the reply. */
  column: number;
  language: string | null;
}

/** Programs wrap at 72–78 characters; a long name, date and address fill four lines at most. */
const MAX_LINES = 4;
const MAX_LENGTH = 420;

const EMAIL = /[^\s<>@"]@[^\s<>@"]/;
/** Every attribution begins with a date, an address, a dash or "On"; most lines of prose do not come that far. */
const MAY_BEGIN = /[\p{Nd}<@年]|^\s{0,4}[-–—*_]|^\s{0,4}On\b/u;
const DATE_EVIDENCE =
  /\d{1,2}[:.h]\d{2}|\b(?:19|20)\d{2}\b|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{1,2}\.? [\p{L}]{3,12}|[\p{L}]{3,12}\.? \d{1,2}\b|[年月日]|[년월일]|[०-९০-৯૦-૯੦-੯௦-௯౦-౯೦-೯൦-൯٠-٩]/u;

/** A date at the beginning, as Gmail writes it in languages without a verb ("ср, 30 апр. 2025 г. в 15:19, Anna <…>:"). */
const DATE_FIRST =
  /^(?:[\p{L}\p{M}]{1,14}\.?[,.]? {0,2})?(?:\d{4}[-/.年]|\d{1,2}[-/. ]|\d{1,2}(?:st|nd|rd|th)?[ ,])[^<]{0,160}<?[^\s<>@]{1,100}@[^\s<>]{1,200}>[ ]?[:：]?$/u;
const ISO_DATE_FIRST = /^\d{4}[-/.年]\d{1,2}[-/.月]\d{1,2}/;

/** "---- Anna wrote ----" of Android programs and "--- On …, Anna wrote:" of Yahoo. */
const DASHED = /^-{2,}[ ]?(?:On .{5,300} wrote:?|.{1,100} wrote)[ ]?-{0,20}$/i;

/** The reply and the attribution share a line when a program loses the line break. */
const SHARED_LINE =
  /(?:^|\s|-)(-{0,8} ?On (?:[A-Z][a-z]{2,8},? )?(?:\d{1,2} [A-Z][a-z]{2,8}|[A-Z][a-z]{2,8} \d{1,2}),? (?:19|20)\d{2},? (?:at )?[^\n]{0,200}\bwrote:)$/;

/** The attribution that begins at line `at`, or null. Looks at no more than four lines and 420 characters. */
export function matchAttribution(
  lines: readonly string[],
  at: number,
  isQuoted: (index: number) => boolean,
): Attribution | null {
  const first = lines[at] ?? '';
  if (first.length > 2000 || !MAY_BEGIN.test(first)) return null;
  const shared = SHARED_LINE.exec(first.trimEnd());
  if (shared?.[1] !== undefined) {
    const column = first.trimEnd().length - shared[1].length;
    if (first.slice(0, column).trim() !== '') return { lines: 1, column, language: 'en' };
  }
  let joined = '';
  for (let count = 1; count <= MAX_LINES; count += 1) {
    const index = at + count - 1;
    const line = normalize(lines[index] ?? '');
    if (index >= lines.length || line === '') break;
    // A wrapped address ("Anna <" / "anna@example.org" / "> wrote:") is put together again.
    const closesAddress = /<[^<>]*$/.test(joined) && /^[^<>\s]{0,200}>/.test(line);
    if (isQuoted(index) && !closesAddress) break;
    joined = joined === '' || closesAddress ? joined + line : `${joined} ${line}`;
    if (joined.length > MAX_LENGTH) break;
    const language = recognize(joined);
    if (language === undefined) continue;
    // The last line of the reply is no part of it when what follows is an attribution by itself.
    const isStray =
      count > 1 && !DATE_EVIDENCE.test(first) && matchAttribution(lines, at + 1, isQuoted);
    return isStray ? null : { lines: count, column: 0, language };
  }
  return null;
}

function normalize(line: string): string {
  return line
    .replace(/[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, '')
    .replace(/[ \t\u00a0\u202f\u3000]+/g, ' ')
    .replace(/^[*_ ]+|[*_ ]+$/g, '')
    .trim();
}

/** The language, null for a line without words of one, undefined when the line is no attribution. */
function recognize(line: string): string | null | undefined {
  if (line.length < 6) return undefined;
  if (DASHED.test(line)) return 'en';
  const closed = /[:：]$/.test(line);
  if (!closed && !line.includes('@')) return undefined;
  const plain = line
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"');
  const hasEmail = EMAIL.test(plain);
  const hasDate = DATE_EVIDENCE.test(plain);
  if (!hasEmail && !hasDate) return undefined;
  for (const { language, verb, opener } of ATTRIBUTION_LANGUAGES) {
    const match = verb.exec(plain);
    if (!match) continue;
    const opened = opener === null ? hasDate : opener.test(plain);
    const afterVerb = plain.slice(match.index + match[0].length).replace(/\([^)]{0,12}\)/g, '');
    const verbLast = /^[^\p{L}\p{N}]{0,4}$/u.test(afterVerb);
    if (verbLast && closed && (opened ? hasDate || hasEmail : hasEmail)) return language;
    // "schrieb Anna <anna@example.org>:" and "skrev Anna Berg:" put the name after the verb.
    if (
      !verbLast &&
      closed &&
      opened &&
      hasDate &&
      afterVerb.length < 160 &&
      (hasEmail || hasClock(plain))
    ) {
      return language;
    }
    // Scripts without a colon habit, and programs that drop it.
    if (verbLast && opened && hasDate && hasEmail) return language;
  }
  if (
    hasEmail &&
    DATE_FIRST.test(plain) &&
    (closed ? hasClock(plain) || ISO_DATE_FIRST.test(plain) : ISO_DATE_FIRST.test(plain))
  ) {
    return guessByMonth(plain);
  }
  return undefined;
}

function hasClock(line: string): boolean {
  return /\d{1,2}[:.h]\d{2}/.test(line);
}

function guessByMonth(line: string): string | null {
  if (/[а-яё]/i.test(line))
    return /(?:^|[^а-яёі])(?:січ|лют|бер|кві|тра|чер|лип|сер|вер|жов|лис|гру|р\.)/iu.test(line)
      ? 'uk'
      : 'ru';
  if (/[ぁ-んァ-ン]|\d年.{1,8}[(（][月火水木金土日][)）]/u.test(line)) return 'ja';
  if (/年/u.test(line)) return 'zh';
  if (/[가-힣]/u.test(line)) return 'ko';
  return null;
}
