const WORD = '[\\p{L}\\p{N}\\p{M}]+';
/** At most 64 octets before the at sign (RFC 5321 §4.5.3.1.1), which also bounds the search for it. */
const ADDRESS =
  '[\\p{L}\\p{N}][\\p{L}\\p{N}\\p{M}._%+-]{0,63}@[\\p{L}\\p{N}-]{1,63}(?:\\.[\\p{L}\\p{N}-]{1,63})+';
const COMPOUND = `${WORD}(?:[./-]${WORD})*`;
const TOKENS = new RegExp(`${ADDRESS}|${COMPOUND}`, 'gu');
/** The same where there is no at sign; to look for addresses takes most of the time. */
const TOKENS_BUT_ADDRESSES = new RegExp(COMPOUND, 'gu');
/** What only a token of several words can have. */
const JOINT = /[./@_%+-]/;
const WORDS = new RegExp(WORD, 'gu');

/** What belongs together and also consists of words: an address, a host name, a date, an order number. */
export interface SearchToken {
  /** In lower case. */
  text: string;
  /** One or more; `[text]` for a plain word. */
  words: string[];
}

/** The one way in which texts are taken apart, of messages and of queries alike. Linear in the length of `text`. */
export function* searchTokens(text: string): Generator<SearchToken> {
  // No token goes over the end of a line.
  for (const line of text.toLowerCase().split('\n')) {
    const tokens = line.includes('@') ? TOKENS : TOKENS_BUT_ADDRESSES;
    for (const [token] of line.matchAll(tokens)) {
      yield { text: token, words: JOINT.test(token) ? (token.match(WORDS) ?? []) : [token] };
    }
  }
}

/** As the input of tsvector and tsquery has it (PostgreSQL, "Text Search Types"). */
export function quotedLexeme(lexeme: string): string {
  return `'${lexeme.replace(/\\/g, '\\\\').replace(/'/g, "''")}'`;
}
