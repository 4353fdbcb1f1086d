import { decodeHeaderText } from './encoded-words';
import type { Address } from './parsed-message';

/** A piece of a display name or of an address outside angle brackets. */
interface Word {
  text: string;
  quoted: boolean;
}

/** One entry of the list while it is read. */
interface Entry {
  words: Word[];
  comments: string[];
  /** Content of the angle brackets; null when there were none. */
  angle: string | null;
}

const ENCODED_WORD = /=\?[^?\s]{1,64}\?[bBqQ]\?[^?\s]*\?=/y;

/**
 * An address list (RFC 5322 §3.4, obsolete forms of §4.4), from mail or typed by a person. Groups
 * are flattened to their members, comments stand in for a missing display name, source routes are
 * dropped. Tolerated: missing commas, semicolons as separators, unclosed quotes and brackets, bare
 * names (an entry without any address has an empty `address`). Never throws.
 */
export function parseAddressList(value: string): Address[] {
  return new AddressListReader(value).read();
}

class AddressListReader {
  private readonly addresses: Address[] = [];
  private position = 0;
  /** Once a quote or comment was never closed, no later one of its kind can be. */
  private readonly unclosed = new Set<string>();
  private entry: Entry = emptyEntry();

  constructor(private readonly value: string) {}

  read(): Address[] {
    while (this.position < this.value.length) this.step();
    this.flush();
    return this.addresses;
  }

  private step(): void {
    const character = this.value.charAt(this.position);
    switch (character) {
      case '"':
        this.quotedString();
        break;
      case '(':
        this.comment();
        break;
      case '<':
        this.angle();
        break;
      case ',':
      case ';':
        this.flush();
        this.position += 1;
        break;
      case ':':
        // The name of a group; its members follow as ordinary entries (RFC 5322 §3.4).
        this.entry = emptyEntry();
        this.position += 1;
        break;
      case '>':
      case ')':
        this.position += 1;
        break;
      default:
        if (isSpace(character)) {
          this.position += 1;
        } else {
          this.atom();
        }
    }
  }

  private quotedString(): void {
    const closed = this.unclosed.has('"') ? null : readQuoted(this.value, this.position);
    if (!closed) {
      this.unclosed.add('"');
      this.position += 1;
      return;
    }
    this.position = closed.end;
    this.addWord(closed.text, true);
  }

  private comment(): void {
    const closed = this.unclosed.has('(') ? null : readComment(this.value, this.position);
    if (!closed) {
      this.unclosed.add('(');
      this.position += 1;
      return;
    }
    this.position = closed.end;
    this.entry.comments.push(closed.text);
  }

  private angle(): void {
    if (this.entry.angle !== null) this.flush();
    let start = this.position + 1;
    const opening = /[<\s]*/y;
    opening.lastIndex = start;
    opening.test(this.value);
    start = opening.lastIndex;
    const end = this.endOfAngle(start);
    if (end >= 0) {
      this.entry.angle = this.value.slice(start, end);
      this.position = end + 1;
      return;
    }
    // Never closed: one word, so that the next address is still found.
    const word = /[^\s,;<]*/y;
    word.lastIndex = start;
    this.entry.angle = word.exec(this.value)?.[0] ?? '';
    this.position = start + this.entry.angle.length;
  }

  /** Index of the ">" that closes an angle bracket; -1 when another one opens or the value ends first. */
  private endOfAngle(start: number): number {
    for (let index = start; index < this.value.length; index += 1) {
      const character = this.value.charAt(index);
      if (character === '>') return index;
      if (character === '<') return -1;
      if (character !== '"' || this.unclosed.has('"')) continue;
      const closed = readQuoted(this.value, index);
      if (closed) index = closed.end - 1;
      else this.unclosed.add('"');
    }
    return -1;
  }

  private atom(): void {
    ENCODED_WORD.lastIndex = this.position;
    if (this.value.startsWith('=?', this.position) && ENCODED_WORD.test(this.value)) {
      const text = this.value.slice(this.position, ENCODED_WORD.lastIndex);
      this.position = ENCODED_WORD.lastIndex;
      this.addWord(text, false);
      return;
    }
    const start = this.position;
    for (; this.position < this.value.length; this.position += 1) {
      const character = this.value.charAt(this.position);
      if (character === '\\') {
        this.position += 1;
      } else if (character === '[' && this.value.charAt(this.position - 1) === '@') {
        const close = this.value.indexOf(']', this.position);
        if (close > 0 && close - this.position < 256) this.position = close;
      } else if (isSpace(character) || '"(),:;<>'.includes(character)) {
        break;
      }
    }
    this.position = Math.min(this.position, this.value.length);
    this.addWord(this.value.slice(start, this.position), false);
  }

  private addWord(text: string, quoted: boolean): void {
    // `<a@b> Next Person <c@d>`: the comma is missing.
    if (this.entry.angle !== null) this.flush();
    this.entry.words.push({ text, quoted });
  }

  private flush(): void {
    const entry = this.entry;
    this.entry = emptyEntry();
    const found = entry.angle === null ? bareAddresses(entry) : [angleAddress(entry, entry.angle)];
    for (const address of found) {
      if (address.name !== '' || address.address !== '') this.addresses.push(address);
    }
  }
}

function emptyEntry(): Entry {
  return { words: [], comments: [], angle: null };
}

function angleAddress(entry: Entry, angle: string): Address {
  return { name: displayName(entry.words, entry.comments), address: normalizeAddress(angle) };
}

/** Entries without angle brackets: `a@b`, `a@b (Name)`, `Name a@b`, `a@b c@d`, or only a name. */
function bareAddresses(entry: Entry): Address[] {
  const words = joinSpacedAddress(entry.words);
  const addresses: Address[] = [];
  let name: Word[] = [];
  for (const word of words) {
    if (isAddressWord(word)) {
      addresses.push({ name: displayName(name, []), address: normalizeAddress(word.text) });
      name = [];
    } else {
      name.push(word);
    }
  }
  const [only] = addresses;
  if (only && addresses.length === 1) {
    // `a@b Name` happens too.
    return [{ ...only, name: only.name || displayName(name, entry.comments) }];
  }
  if (addresses.length > 1) return addresses;
  const [word] = name;
  if (word && name.length === 1 && !word.quoted && entry.comments.length > 0) {
    // The old `MAILER-DAEMON (Mail Delivery System)`.
    return [{ name: displayName([], entry.comments), address: normalizeAddress(word.text) }];
  }
  return [{ name: displayName(name, entry.comments), address: '' }];
}

function isAddressWord(word: Word): boolean {
  const at = word.text.lastIndexOf('@');
  return !word.quoted && at > 0 && at < word.text.length - 1;
}

/** Joins `"john doe"@example.com` and the obsolete `john . doe @ example . com` (RFC 5322 §4.4). */
function joinSpacedAddress(words: readonly Word[]): Word[] {
  const joined: Word[] = [];
  let afterJoint = false;
  for (const word of words) {
    const isJoint = !word.quoted && (word.text === '.' || word.text.startsWith('@'));
    const previous = joined.at(-1);
    if (previous && (isJoint || afterJoint)) {
      const left = previous.quoted ? quoteIfNeeded(previous.text) : previous.text;
      joined[joined.length - 1] = { text: left + word.text, quoted: false };
    } else {
      joined.push(word);
    }
    afterJoint = !word.quoted && /(?:@|^\.)$/.test(word.text);
  }
  return joined;
}

function displayName(words: readonly Word[], comments: readonly string[]): string {
  const name = decodeHeaderText(words.map((word) => word.text).join(' '));
  return name === '' && comments.length > 0 ? decodeHeaderText(comments.join(' ')) : name;
}

/** The addr-spec without route, comments and white space; domain in lower case (RFC 5321 §2.4). */
function normalizeAddress(raw: string): string {
  let text = withoutFoldingSpace(raw);
  if (text.startsWith('@')) {
    // obs-route (RFC 5322 §4.4): `@hop,@hop:user@domain`.
    const colon = text.indexOf(':');
    if (colon > 0) text = text.slice(colon + 1);
  }
  if (/^mailto:/i.test(text)) text = text.slice(7);
  const at = text.lastIndexOf('@');
  if (at < 0) return text;
  return text.slice(0, at) + text.slice(at).toLowerCase();
}

function withoutFoldingSpace(raw: string): string {
  let text = '';
  let index = 0;
  let unclosedComment = false;
  let unclosedQuote = false;
  while (index < raw.length) {
    const character = raw.charAt(index);
    if (character === '"' && !unclosedQuote) {
      const closed = readQuoted(raw, index);
      unclosedQuote = closed === null;
      text += closed ? quoteIfNeeded(closed.text) : '';
      index = closed ? closed.end : index + 1;
    } else if (character === '(' && !unclosedComment) {
      const closed = readComment(raw, index);
      unclosedComment = closed === null;
      index = closed ? closed.end : index + 1;
    } else {
      if (character > ' ' && character !== '\u007f' && character !== '<' && character !== '>')
        text += character;
      index += 1;
    }
  }
  return text;
}

/** A quoted local part in its shortest form: `"john"` and `john` are one mailbox (RFC 5321 §4.1.2). */
function quoteIfNeeded(content: string): string {
  if (/^[^\s"(),:;<>@[\]\\.]+(?:\.[^\s"(),:;<>@[\]\\.]+)*$/.test(content)) return content;
  return `"${content.replace(/["\\]/g, '\\$&')}"`;
}

function readQuoted(value: string, start: number): { text: string; end: number } | null {
  let text = '';
  let copied = start + 1;
  for (let index = start + 1; index < value.length; index += 1) {
    const character = value.charAt(index);
    if (character === '"') return { text: text + value.slice(copied, index), end: index + 1 };
    if (character === '\\') {
      text += value.slice(copied, index);
      copied = index + 1;
      index += 1;
    }
  }
  return null;
}

function readComment(value: string, start: number): { text: string; end: number } | null {
  let depth = 0;
  let text = '';
  let copied = start + 1;
  for (let index = start; index < value.length; index += 1) {
    const character = value.charAt(index);
    if (character === '\\') {
      text += value.slice(copied, index);
      copied = index + 1;
      index += 1;
    } else if (character === '(') {
      depth += 1;
    } else if (character === ')') {
      depth -= 1;
      if (depth === 0) return { text: text + value.slice(copied, index), end: index + 1 };
    }
  }
  return null;
}

function isSpace(character: string): boolean {
  return character <= ' ' || character === '\u00a0';
}
