interface Patterns {
  tokens: RegExp;
  /** The same where there is no at sign; matching addresses takes most of the time. */
  tokensButAddresses: RegExp;
  words: RegExp;
}

/** @param first what an address may begin with, as in a class of a pattern; words may have `more` besides */
function patternsOf(first: string, more: string, flags: string): Patterns {
  const word = `[${first}${more}]+`;
  const compound = `${word}(?:[./-]${word})*`;
  // At most 64 octets before the at sign (RFC 5321 §4.5.3.1.1), which also bounds the search for it.
  const address = `[${first}][${first}${more}._%+-]{0,63}@[${first}-]{1,63}(?:\\.[${first}-]{1,63})+`;
  return {
    tokens: new RegExp(`${address}|${compound}`, flags),
    tokensButAddresses: new RegExp(compound, flags),
    words: new RegExp(word, flags),
  };
}

const UNICODE = patternsOf('\\p{L}\\p{N}', '\\p{M}', 'gu');
/** The same of text in ASCII and lower case, in a third of the time. */
const ASCII = patternsOf('a-z0-9', '', 'g');
const IS_ASCII = /^[\x00-\x7f]*$/;
/** What only a token of several words can have. */
const JOINT = /[./@_%+-]/;

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
    const { tokens, tokensButAddresses, words } = IS_ASCII.test(line) ? ASCII : UNICODE;
    for (const token of line.match(line.includes('@') ? tokens : tokensButAddresses) ?? []) {
      yield { text: token, words: JOINT.test(token) ? (token.match(words) ?? []) : [token] };
    }
  }
}

/** As the input of tsvector and tsquery has it (PostgreSQL, "Text Search Types"). */
export function quotedLexeme(lexeme: string): string {
  return `'${lexeme.replace(/\\/g, '\\\\').replace(/'/g, "''")}'`;
}
