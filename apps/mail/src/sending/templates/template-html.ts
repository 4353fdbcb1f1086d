import { createHash } from 'node:crypto';
import { InvalidError } from '@dak/kernel';
import { htmlTokens, MAX_HTML_LENGTH, sanitizeHtml } from '@dak/formats/html';
import { inlineStyleSheet, styleSheets } from './inline-style-sheet';

const TAG = /\{\{[\s\S]*?\}\}/g;
/** Where an address begins. */
const URL_ATTRIBUTE = /\b(?:href|src)\s*=\s*["']?\s*$/i;
const FIELD = 'body_html';

/**
 * The HTML of a template as it is kept: its style sheet written into style attributes, and sanitized,
 * the tags in it as they were.
 * @throws InvalidError `invalid_template` for a tag where a mail can have no text and no value of an
 * attribute, e.g. in a script, which the sanitizer would silently take away
 */
export function safeTemplateHtml(source: string): string {
  const marks = markTags(source);
  const inlined = inlineStyleSheet(marks.html, FIELD);
  if (inlined.length > MAX_HTML_LENGTH) {
    throw new InvalidError(
      `${FIELD} becomes longer than ${MAX_HTML_LENGTH} characters with its style sheet written into it. Shorten it.`,
      'invalid_template',
    );
  }
  const safe = sanitizeHtml(inlined, { remoteImages: 'on' });
  const kept = new Set([...safe.matchAll(marks.pattern)].map(([, index]) => Number(index)));
  const lost = marks.tags.find(({ inSheet }, index) => !inSheet && !kept.has(index));
  if (lost !== undefined) {
    throw new InvalidError(
      `${FIELD} has the tag ${lost.tag.slice(0, 100)} in a place that is taken out of mail (a script, a comment, the name of an attribute, an attribute that is not allowed). Move it into the text or an allowed attribute.`,
      'invalid_template',
    );
  }
  return safe.replace(marks.pattern, (_, index: string) => marks.tags[Number(index)]!.tag);
}

interface Marks {
  readonly html: string;
  readonly tags: readonly { readonly tag: string; readonly inSheet: boolean }[];
  /** Finds the marks in HTML made from `html`; the first group is the tag's index. */
  readonly pattern: RegExp;
}

/**
 * Words in place of tags, as sanitizer and style sheet know nothing of tags. A tag at the beginning of
 * an address becomes one, because the sanitizer takes away addresses that are none; when the template
 * is filled in, the result is sanitized again.
 */
function markTags(source: string): Marks {
  // No text holds its own digest, so the word means nothing else in it.
  const word = `dak${createHash('sha256').update(source).digest('hex').slice(0, 16)}x`;
  const sheets = /<style/i.test(source) ? styleSheets(htmlTokens(source)) : [];
  let sheet = 0;
  const tags: { tag: string; inSheet: boolean }[] = [];
  const html = source.replace(TAG, (tag: string, at: number) => {
    while (sheet < sheets.length && sheets[sheet]!.end <= at) sheet += 1;
    const inSheet = sheet < sheets.length && at >= sheets[sheet]!.start;
    if (inSheet && /^\{\{\s*[#^/]/.test(tag)) {
      throw new InvalidError(
        `${FIELD} has the tag ${tag.slice(0, 100)} in a style sheet, where only values such as {{color}} can stand.`,
        'invalid_template',
      );
    }
    const index = tags.push({ tag, inSheet }) - 1;
    const startsAddress = URL_ATTRIBUTE.test(source.slice(Math.max(0, at - 40), at));
    return `${startsAddress ? 'https://' : ''}${word}${index}z`;
  });
  return { html, tags, pattern: new RegExp(`(?:https://(?=${word}\\d+z))?${word}(\\d+)z`, 'g') };
}
