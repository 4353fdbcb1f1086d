import { quotedLexeme, searchTokens, type SearchToken } from './search-words';

const MAX_WORDS = 16;
const OPERATORS = /["]|(^|\s)-\S|(^|\s)or(\s|$)/i;
/** A phrase in quotes, or what stands between blanks; either may be refused by a minus. */
const TERMS = /(-?)(?:"([^"]*)"?|([^\s"]+))/gu;

/**
 * What a person typed, as the text of a PostgreSQL tsquery. Without operators every word must occur as the
 * beginning of a word of the message, so that `meer` finds Meera and `customer.example` finds the
 * address. With them as web searches have it: "words in a row", `or` (binds less than a blank), and a
 * minus for what must not occur; words are whole ones then. Null when there is no word in it.
 */
export function textQuery(typed: string): string | null {
  return OPERATORS.test(typed) ? webQuery(typed) : beginningsQuery(typed);
}

function beginningsQuery(typed: string): string | null {
  const tokens = [...searchTokens(typed)].slice(0, MAX_WORDS);
  return tokens.length === 0 ? null : tokens.map(beginnings).join(' & ');
}

/** The token as the message may have it, or all its words; a whole address is not taken apart. */
function beginnings({ text, words }: SearchToken): string {
  if (words.length === 1 || text.includes('@')) return prefix(text);
  return `(${prefix(text)} | (${words.map(prefix).join(' & ')}))`;
}

function webQuery(typed: string): string | null {
  const alternatives: string[][] = [[]];
  let words = 0;
  for (const [term, minus, phrase, plain] of typed.matchAll(TERMS)) {
    if (plain?.toLowerCase() === 'or' && minus === '' && !term.startsWith('"')) {
      if (alternatives.at(-1)!.length > 0) alternatives.push([]);
      continue;
    }
    const row = [...searchTokens(phrase ?? plain ?? '')].flatMap((token) => token.words);
    if (row.length === 0 || words >= MAX_WORDS) continue;
    words += row.length;
    const query = row.slice(0, MAX_WORDS).map(quotedLexeme).join(' <-> ');
    const whole = row.length === 1 ? query : `(${query})`;
    alternatives.at(-1)!.push(minus === '-' ? `!${whole}` : whole);
  }
  const parts = alternatives.filter((terms) => terms.length > 0).map((terms) => terms.join(' & '));
  if (parts.length === 0) return null;
  return parts.length === 1 ? parts[0]! : parts.map((part) => `(${part})`).join(' | ');
}

function prefix(lexeme: string): string {
  return `${quotedLexeme(lexeme)}:*`;
}
