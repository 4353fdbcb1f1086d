import type { Address } from '@dak/formats/rfc5322';

/**
 * The facts of two messages that threading's subject fallback compares, as 32-bit hashes: it is stored
 * with each message, and neither names nor words can be read back from it.
 */
export interface ThreadEvidence {
  author: number;
  /** The author's display name, as written and with surname and given names exchanged. */
  authorNames: readonly number[];
  /** Addresses of author and recipients, without mailbox and mailing lists. */
  correspondents: readonly number[];
  /** Addresses and names in attribution lines and quoted headers: whose mail is quoted. */
  mentioned: readonly number[];
  /** Runs of words of the author's new text. */
  ownWords: readonly number[];
  /** Runs of words that are only in the quoted mail. */
  quotedWords: readonly number[];
}

export interface EvidenceInput {
  from: readonly Address[];
  recipients: readonly Address[];
  /** Addresses that stand for no person: the mailbox itself and mailing lists. */
  impersonal: readonly string[];
  /** The whole text body. */
  text: string | null;
  /** Without the quoted mail. */
  textNew: string | null;
}

const MAX_TEXT = 32_000;
const RUN_WORDS = 4;
/** The smallest hashes of a text: two texts that share words share small hashes, whatever their length. */
const MAX_OWN_RUNS = 96;
const MAX_QUOTED_RUNS = 64;
const MAX_MENTIONED = 48;
const MAX_CORRESPONDENTS = 32;

export function threadEvidence(input: EvidenceInput): ThreadEvidence {
  const impersonal = new Set(input.impersonal.map((address) => address.toLowerCase()));
  const personal = (address: Address) => !impersonal.has(address.address.toLowerCase());
  const text = withoutFooter((input.text ?? '').slice(0, MAX_TEXT));
  const own = unquotedLines((input.textNew ?? text).slice(0, MAX_TEXT));
  const ownRuns = runsOfWords(withoutFooter(own));
  const quotedRuns = text === own ? new Set<number>() : runsOfWords(unquoted(text));
  for (const run of ownRuns) quotedRuns.delete(run);
  const author = input.from[0];
  return {
    author: authorHash(author, impersonal),
    authorNames: author === undefined ? [] : nameHashes(author.name),
    correspondents: unique(
      [author, ...input.recipients]
        .filter((entry) => entry === undefined || personal(entry))
        .map((entry) => authorHash(entry, impersonal)),
    ).slice(0, MAX_CORRESPONDENTS),
    mentioned: mentions(text).slice(0, MAX_MENTIONED),
    ownWords: smallest(ownRuns, MAX_OWN_RUNS),
    quotedWords: smallest(quotedRuns, MAX_QUOTED_RUNS),
  };
}

/** A list that puts itself into From leaves only the name to distinguish its authors. */
function authorHash(author: Address | undefined, impersonal: ReadonlySet<string>): number {
  if (author === undefined) return hash('');
  const address = author.address.toLowerCase();
  return impersonal.has(address) ? hash(`name:${words(author.name).join(' ')}`) : hash(address);
}

function nameHashes(name: string): number[] {
  const parts = words(name.replace(/\(.*?\)/g, ' '));
  if (parts.length < 2) return [];
  const reversed = name.includes(',') ? [...parts.slice(1), parts[0]!] : [];
  return unique(
    [parts, reversed].filter((list) => list.length > 1).map((list) => hash(list.join(' '))),
  );
}

const ADDRESS = /[^\s<>()[\]"',;:]+@[^\s<>()[\]"',;:]+\.[^\s<>()[\]"',;:]+/g;
/** `>` and `|`, and the initials or name that some programs set before them. */
const QUOTED = /^\s*(?:[\p{L}\d._-]{1,16}>|[>|])/u;
const QUOTED_AUTHOR =
  /^[\s>*]*(?:from|von|de|da|van|fra|från|från|od|от|från|发件人|差出人)\s*\*?\s*[::]/iu;

/** The line before quoted text names whose it is; so does `From:` of a quoted header. */
function mentions(text: string): number[] {
  const lines = text.split('\n');
  const found: number[] = [];
  lines.forEach((line, index) => {
    const opensQuote = QUOTED.test(line) && !QUOTED.test(lines[index - 1] ?? '>');
    if (opensQuote) found.push(...namesIn(lines.slice(Math.max(0, index - 3), index).join(' ')));
    else if (QUOTED_AUTHOR.test(line) || /\p{L}:\s*$/u.test(line)) {
      found.push(...namesIn(`${lines[index - 1] ?? ''} ${line}`));
    }
  });
  return unique(found);
}

/** Hash of an address or a Message-ID in the line above a quotation. */
export function mentionHash(text: string): number {
  return hash(text.toLowerCase());
}

function namesIn(line: string): number[] {
  const addresses = line.match(ADDRESS) ?? [];
  const parts = words(line.replace(ADDRESS, ' ')).slice(-24);
  const names: string[] = [];
  for (let length = 2; length <= 3; length += 1) {
    for (let start = 0; start + length <= parts.length; start += 1) {
      names.push(parts.slice(start, start + length).join(' '));
    }
  }
  return [...addresses.map(mentionHash), ...names.map(hash)];
}

const FOOTER =
  /https?:\/\/\S+$|unsubscribe|mailing list|^[>|\s]*(?:_{5,}|-{10,})|^[>|\s]*[^\s@]+@[^\s@]+$/i;

/** Signatures and the footers of mailing lists are the same in unrelated mail. */
function withoutFooter(text: string): string {
  const lines = text.split('\n');
  return lines.filter((line) => !FOOTER.test(line)).join('\n');
}

function unquotedLines(text: string): string {
  return text
    .split('\n')
    .filter((line) => !QUOTED.test(line))
    .join('\n');
}

function unquoted(text: string): string {
  return text.replace(/^[ \t]*(?:[\p{L}\d._-]{1,16}>|[>|])[>| \t]*/gmu, '');
}

function words(text: string): string[] {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

/** Runs of words instead of lines, because quoting programs rewrap lines. */
function runsOfWords(text: string): Set<number> {
  const hashes = words(text).map(hash);
  const runs = new Set<number>();
  const last = Math.max(0, hashes.length - RUN_WORDS);
  for (let start = 0; start <= last && hashes.length > 0; start += 1) {
    let run = OFFSET_BASIS;
    for (let index = start; index < start + RUN_WORDS && index < hashes.length; index += 1) {
      run = mixed(run, hashes[index]!);
    }
    runs.add(run | 0);
  }
  return runs;
}

function smallest(hashes: ReadonlySet<number>, count: number): number[] {
  return [...Int32Array.from(hashes).sort().subarray(0, count)];
}

function unique(values: number[]): number[] {
  return [...new Set(values)];
}

const OFFSET_BASIS = 0x811c9dc5;
const PRIME = 0x01000193;

/** FNV-1a, as PostgreSQL's signed `integer`. */
function hash(text: string): number {
  let value = OFFSET_BASIS;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), PRIME);
  }
  return value | 0;
}

function mixed(value: number, next: number): number {
  return Math.imul(Math.imul(value ^ (next & 0xffff), PRIME) ^ (next >>> 16), PRIME);
}
