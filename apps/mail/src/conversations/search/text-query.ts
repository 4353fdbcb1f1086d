import { quotedLexeme, searchTokens, type SearchToken } from './search-words';

const MAX_WORDS = 16;
const OPERATORS = /["]|(^|\s)-\S|(^|\s)or(\s|$)/i;
/** A phrase in quotes, or what stands between blanks; either may be refused by a minus. */
const TERMS = /(-?)(?:"([^"]*)"?|([^\s"]+))/gu;
/** One or two letters of ASCII begin a tenth of all words: a search for them would read most of the index. */
const TOO_SHORT_TO_BEGIN = /^[\x00-\x7f]{1,2}$/;

export interface TextQuery {
  /** Text of a tsquery. */
  text: string;
  /** Texts of tsqueries of which all must hold; together they are `text`. */
  terms: string[];
}

/**
 * A user's search text as a PostgreSQL tsquery. Without operators every word must occur as the
 * beginning of a word of the message, so that `meer` finds Meera and `customer.example` finds the
 * address; words of one or two letters are whole ones. With operators as web searches have them: "words in
 * a row", `or` (binds less than a blank), and a minus for what must not occur; words are whole ones
 * then. Null when there is no word in it.
 */
export function textQuery(typed: string): TextQuery | null {
  return OPERATORS.test(typed) ? webQuery(typed) : beginningsQuery(typed);
}

function beginningsQuery(typed: string): TextQuery | null {
  const tokens = [...searchTokens(typed)].slice(0, MAX_WORDS);
  return tokens.length === 0 ? null : allOf(tokens.map(beginnings));
}

function allOf(terms: string[]): TextQuery {
  return { text: terms.join(' & '), terms };
}

/** The token as the message may have it, or all its words; a whole address is not taken apart. */
function beginnings({ text, words }: SearchToken): string {
  if (words.length === 1 || text.includes('@')) return prefix(text);
  return `(${prefix(text)} | (${words.map(prefix).join(' & ')}))`;
}

function webQuery(typed: string): TextQuery | null {
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
  const parts = alternatives.filter((terms) => terms.length > 0);
  if (parts.length === 0) return null;
  if (parts.length === 1) return allOf(parts[0]!);
  const text = parts.map((terms) => `(${terms.join(' & ')})`).join(' | ');
  return { text, terms: [`(${text})`] };
}

function prefix(lexeme: string): string {
  const quoted = quotedLexeme(lexeme);
  return TOO_SHORT_TO_BEGIN.test(lexeme) ? quoted : `${quoted}:*`;
}
