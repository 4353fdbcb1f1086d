import { quotedLexeme, searchTokens } from './search-words';

interface Person {
  email: string;
  name: string;
}

/** What of a message can be found. */
export interface SearchText {
  organizationId: string;
  mailboxId: string;
  subject: string;
  from: Person | null;
  recipients: readonly Person[];
  body: string;
}

/** As of PostgreSQL's `setweight`: A counts most. */
type Weight = 'A' | 'B' | 'C' | '';

const MAX_SUBJECT = 1_000;
const MAX_FROM = 1_000;
const MAX_RECIPIENTS = 4_000;
const MAX_BODY = 100_000;
/** Longer runs of letters are no words; PostgreSQL takes 2046 octets. */
const MAX_WORD = 500;
/** PostgreSQL counts no further. */
const MAX_POSITION = 16_383;
/** Occurrences that are noted of one word, for rank and phrases. */
const MAX_OCCURRENCES = 64;

/**
 * The message as the text of a PostgreSQL tsvector. Every word has its own position; a token of several
 * words is there besides, where its first word is. Organization and mailbox are lexemes of it, so that a
 * search reads nothing of other tenants. To take the text apart here costs a tenth of what `to_tsvector` takes.
 */
export function searchVector(text: SearchText): string {
  const lexemes = new Map<string, string[]>();
  lexemes.set(`@${text.organizationId}`, []);
  lexemes.set(`@${text.mailboxId}`, []);
  let position = 0;
  const note = (lexeme: string, at: number, weight: Weight) => {
    if (lexeme.length > MAX_WORD) return;
    const places = lexemes.get(lexeme);
    if (places !== undefined && places.length >= MAX_OCCURRENCES) return;
    const place = `${Math.min(at, MAX_POSITION)}${weight}`;
    if (places === undefined) lexemes.set(lexeme, [place]);
    else if (places.at(-1) !== place) places.push(place);
  };
  const add = (part: string, weight: Weight) => {
    for (const token of searchTokens(part)) {
      if (token.words.length > 1) note(token.text, position + 1, weight);
      for (const word of token.words) note(word, (position += 1), weight);
    }
  };
  add(text.subject.slice(0, MAX_SUBJECT), 'A');
  if (text.from !== null) add(namesOf([text.from]).slice(0, MAX_FROM), 'B');
  add(namesOf(text.recipients).slice(0, MAX_RECIPIENTS), 'C');
  add(text.body.slice(0, MAX_BODY), '');
  return [...lexemes]
    .map(
      ([lexeme, places]) =>
        quotedLexeme(lexeme) + (places.length === 0 ? '' : `:${places.join(',')}`),
    )
    .join(' ');
}

function namesOf(people: readonly Person[]): string {
  return people.map(({ email, name }) => `${email} ${name}`).join(' ');
}
