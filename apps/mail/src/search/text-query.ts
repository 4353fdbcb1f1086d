/** A full-text query: text for `websearch_to_tsquery`, or a ready tsquery. */
export interface TextQuery {
  kind: 'websearch' | 'tsquery';
  text: string;
}

const MAX_WORDS = 16;
const OPERATORS = /["]|(^|\s)-\S|(^|\s)or(\s|$)/i;
const ADDRESS = /^[^@]+@[^@.]+\.[^@]+$/;
const NO_WORD = /[^\p{L}\p{N}\p{M}]+/u;

/**
 * What a person typed, as a query: with quotes, `or` or a minus as web searches understand them, else
 * every word must occur as the beginning of a word of the message, so that `meer` finds Meera and
 * `customer.example` finds the address. Null when there is no word in it.
 */
export function textQuery(typed: string): TextQuery | null {
  if (OPERATORS.test(typed)) return { kind: 'websearch', text: typed };
  const words = typed
    .toLowerCase()
    .split(/\s+/)
    .map(trimmed)
    .filter((word) => word !== '')
    .slice(0, MAX_WORDS);
  if (words.length === 0) return null;
  return { kind: 'tsquery', text: words.map(beginnings).join(' & ') };
}

/** The word as the parser may have kept it (address, host name), or all its parts; a whole address is not taken apart. */
function beginnings(word: string): string {
  if (ADDRESS.test(word)) return prefix(word);
  const parts = word.split(NO_WORD).filter((part) => part !== '');
  if (parts.length === 1 && parts[0] === word) return prefix(word);
  return `(${prefix(word)} | (${parts.map(prefix).join(' & ')}))`;
}

function prefix(lexeme: string): string {
  return `'${lexeme.replace(/\\/g, '\\\\').replace(/'/g, "''")}':*`;
}

function trimmed(word: string): string {
  return word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}\p{M}]+$/gu, '');
}

/** SQL that makes the tsquery from the placeholder of `text`. */
export function textQuerySql(query: TextQuery, placeholder: string): string {
  return query.kind === 'websearch'
    ? `websearch_to_tsquery('simple', ${placeholder})`
    : `${placeholder}::tsquery`;
}
