import { baseSubject } from '@dak/formats/rfc5322';
import { mentionHash, type ThreadEvidence } from './thread-evidence';

/**
 * Which messages of one mailbox belong together. Threading is connectivity: symmetric relations of
 * pairs, and for a reply that names nothing one parent that is chosen from the whole set. Nothing
 * here knows which message came first, so the result is the same for every order of arrival.
 */
export interface ThreadMessage {
  /** Id of the stored message. */
  id: string;
  messageId: string | null;
  inReplyTo: string | null;
  references: readonly string[];
  threadIndexRoot: string | null;
  /** See {@link foldSubject}. */
  subject: string;
  /** See {@link formerSubjectOf}. */
  formerSubject: string | null;
  isReplySubject: boolean;
  /** See {@link seriesOf}. */
  series: string | null;
  /** Milliseconds since the epoch, by the Date field. */
  datedAt: number;
  /** Lower-case hexadecimal; breaks ties between messages of the same time. */
  contentHash: string;
  evidence: ThreadEvidence;
}

/** Facts for relations by identifier. */
export type LinkedMessage = Pick<
  ThreadMessage,
  | 'id'
  | 'messageId'
  | 'inReplyTo'
  | 'references'
  | 'threadIndexRoot'
  | 'subject'
  | 'formerSubject'
  | 'isReplySubject'
> & { evidence: Pick<ThreadEvidence, 'quotedWords'> };

/** Days that a reply may be younger than the message it is attached to by subject. */
export const SUBJECT_WINDOW_MS = 14 * 24 * 3600 * 1000;
/** Parts of a numbered series are sent by one program run. */
export const SERIES_WINDOW_MS = 3600 * 1000;
/** Clocks of correspondents disagree a little. */
const CLOCK_SKEW_MS = 10 * 60 * 1000;
/** Some clocks are set to the wrong zone: who quotes a message has seen it, whatever the Date says. */
export const ZONE_SKEW_MS = 16 * 3600 * 1000;

/** Quoted runs of words for a quotation to count, and for it to be certain. */
const MIN_QUOTED_RUNS = 2;
const CERTAIN_QUOTED_RUNS = 4;
/** The same for a message without a reply mark that names no quoted author. */
const UNMARKED_QUOTED_RUNS = 8;
const MAX_QUOTED_SCORE = 500;
/** The line above a quotation may contain the quoted Message-ID. */
const NAMED_ID_SCORE = 2000;
const QUOTE_SCORE = 1000;
const MENTION_SCORE = 500;
const FAINT_QUOTE_SCORE = 300;
const SAME_QUOTE_SCORE = 50;
const CORRESPONDENT_SCORE = 100;
const SERIES_SCORE = 50;
/** Quoted runs of words by which a message is a reply whatever its subject says: some lists strip the mark. */
const QUOTING_RUNS = 4;

/** `Pumps (was: Re: Valves)`: the new subject of a thread names the former one. */
const FORMER_SUBJECT =
  /\s*(?:[([]\s*(?:was|war)\b\s*:?|[,;–-]?\s(?:was|war):)\s*(.+?)[)\]\s.…]*$/iu;

/** Base subjects are compared without case, and without former subjects. */
export function foldSubject(baseSubjectText: string): string {
  const text = folded(baseSubjectText);
  return text.replace(FORMER_SUBJECT, '') || text;
}

/** The folded subject that a subject says it had before; null for others. */
export function formerSubjectOf(baseSubjectText: string): string | null {
  const former = FORMER_SUBJECT.exec(folded(baseSubjectText))?.[1];
  return former === undefined ? null : foldSubject(baseSubject(former).base) || null;
}

function folded(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/(?<=[^.\s])[.\s]+$/u, '')
    .trim();
}

/** A series of mails such as patches numbered `[PATCH v2 3/7]`, by author, label and total; null for other mail. */
export function seriesOf(subject: string, author: number, isReplySubject: boolean): string | null {
  const tag = isReplySubject ? null : /\[([^\][]*?)\s*\b(\d{1,3})\/(\d{1,3})\]/.exec(subject);
  return tag === null ? null : `${author} ${tag[1]!.toLowerCase()} ${Number(tag[3])}`;
}

/** A message that names no other one, and yet shows that it belongs to one. */
export function isOrphan(message: ThreadMessage): boolean {
  if (message.inReplyTo !== null || message.references.length > 0) return false;
  return (
    message.series !== null ||
    (message.subject !== '' &&
      (message.isReplySubject ||
        message.formerSubject !== null ||
        message.evidence.quotedWords.length >= QUOTING_RUNS))
  );
}

/**
 * Some programs carry References over into a new topic, without In-Reply-To and under a new subject.
 * Such references count only towards messages of the same subject (RFC 8621 §3), unless the message
 * quotes: then it is a reply whose subject was changed.
 */
export function hasWeakReferences(message: LinkedMessage): boolean {
  return (
    message.inReplyTo === null &&
    message.references.length > 0 &&
    !message.isReplySubject &&
    message.formerSubject === null &&
    message.evidence.quotedWords.length < QUOTING_RUNS
  );
}

/**
 * Identifiers that connect all messages that have them. An id that a message refers to connects even
 * even if that message is missing: the replies to a lost message are one thread.
 */
export function sharedKeys(message: LinkedMessage): string[] {
  const keys = new Set<string>();
  const mention = hasWeakReferences(message) ? weakMentionKey : mentionKey;
  for (const id of mentionedIds(message)) keys.add(mention(id, message.subject));
  if (message.threadIndexRoot !== null) {
    keys.add(`index ${message.threadIndexRoot} ${message.subject}`);
  }
  // The same Message-ID on different content: copies with and without a list footer have one
  // subject; under different subjects the id is a mistake of its sender and says nothing.
  if (message.messageId !== null && message.subject !== '') {
    keys.add(`own ${message.messageId} ${message.subject}`);
  }
  return [...keys];
}

/** Keys of {@link sharedKeys} by which others refer to the message. */
export function mentionsOf(messageId: string, subject: string): string[] {
  return [mentionKey(messageId), weakMentionKey(messageId, subject)];
}

export function mentionedIds(message: LinkedMessage): string[] {
  const ids = new Set(message.references);
  if (message.inReplyTo !== null) ids.add(message.inReplyTo);
  return [...ids];
}

function mentionKey(id: string): string {
  return `mention ${id}`;
}

function weakMentionKey(id: string, subject: string): string {
  return `weak ${id} ${subject}`;
}

/** Facts for choosing a parent. */
export type ParentFacts = Pick<
  ThreadMessage,
  | 'id'
  | 'messageId'
  | 'subject'
  | 'formerSubject'
  | 'isReplySubject'
  | 'series'
  | 'datedAt'
  | 'contentHash'
  | 'evidence'
> & {
  isOrphan: boolean;
  /** Sent by this mailbox, so its recipients are known. */
  isOutbound: boolean;
};

/** How well `candidate` explains `orphan`; 0 = not at all. */
export function parentScore(orphan: ParentFacts, candidate: ParentFacts): number {
  if (candidate.id === orphan.id) return 0;
  return Math.max(replyScore(orphan, candidate), seriesScore(orphan, candidate));
}

/**
 * A common subject is not enough: the reply must quote the candidate, name it or its author, or be between the same correspondents. Without a reply mark it must quote
 * much of the candidate, or quote and name it.
 */
function replyScore(orphan: ParentFacts, candidate: ParentFacts): number {
  if (orphan.subject === '' || candidate.subject === '') return 0;
  if (candidate.subject !== orphan.subject && candidate.subject !== orphan.formerSubject) return 0;
  const age = orphan.datedAt - candidate.datedAt;
  if (age > SUBJECT_WINDOW_MS) return 0;
  // Of two messages that name nothing only the earlier one may be the parent, or they would choose one another.
  if (candidate.isOrphan ? !isEarlier(candidate, orphan) : age < -ZONE_SKEW_MS) return 0;

  const reply = orphan.evidence;
  const original = candidate.evidence;
  const quoted = quoteScore(reply.quotedWords, original.ownWords);
  const namesId =
    candidate.messageId !== null && reply.mentioned.includes(mentionHash(candidate.messageId));
  const names =
    reply.mentioned.includes(original.author) ||
    original.authorNames.some((name) => reply.mentioned.includes(name));
  if (age < -CLOCK_SKEW_MS && !(namesId || (names && quoted >= QUOTE_SCORE))) return 0;
  const isReply = orphan.isReplySubject || orphan.formerSubject !== null;
  if (
    !isReply &&
    quoted < QUOTE_SCORE + UNMARKED_QUOTED_RUNS &&
    !(quoted > 0 && (names || namesId))
  ) {
    return 0;
  }
  const corresponds = correspond(reply, original);
  // A text that we send to many is quoted by many.
  if (candidate.isOutbound && !corresponds && !namesId) return 0;
  return (
    (namesId ? NAMED_ID_SCORE : 0) +
    quoted +
    (names ? MENTION_SCORE : 0) +
    (corresponds
      ? CORRESPONDENT_SCORE + sameQuoteScore(reply.quotedWords, original.quotedWords)
      : 0)
  );
}

function quoteScore(quotedWords: readonly number[], ownWords: readonly number[]): number {
  const common = countCommon(quotedWords, ownWords);
  if (common === 0 || common < Math.min(MIN_QUOTED_RUNS, ownWords.length)) return 0;
  const score = common < CERTAIN_QUOTED_RUNS ? FAINT_QUOTE_SCORE : QUOTE_SCORE;
  return score + Math.min(common, MAX_QUOTED_SCORE);
}

/**
 * The reply goes to the author of the original, or on between the same people. That its author has
 * written to others under this subject says nothing: an agent answers many customers.
 */
function correspond(reply: ThreadEvidence, original: ThreadEvidence): boolean {
  const others = reply.correspondents.filter((person) => person !== reply.author);
  if (others.includes(original.author)) return true;
  return (
    original.correspondents.includes(reply.author) &&
    (others.length === 0 || others.some((person) => original.correspondents.includes(person)))
  );
}

/** Two letters to one message quote the same words of it. Strangers do so too, of a text that is sent to many. */
function sameQuoteScore(a: readonly number[], b: readonly number[]): number {
  const common = countCommon(a, b);
  return common < CERTAIN_QUOTED_RUNS ? 0 : SAME_QUOTE_SCORE;
}

/** A part that lost its headers belongs to the parts that have theirs; a series sent without any stays apart. */
function seriesScore(orphan: ParentFacts, candidate: ParentFacts): number {
  if (orphan.series === null || candidate.series !== orphan.series || candidate.isOrphan) return 0;
  return Math.abs(orphan.datedAt - candidate.datedAt) <= SERIES_WINDOW_MS ? SERIES_SCORE : 0;
}

/** True when `a` is the better parent: higher score, then nearer in time, then by content. */
export function isBetterParent(
  orphan: ParentFacts,
  a: { facts: ParentFacts; score: number },
  b: { facts: ParentFacts; score: number },
): boolean {
  if (a.score !== b.score) return a.score > b.score;
  const distance =
    Math.abs(orphan.datedAt - a.facts.datedAt) - Math.abs(orphan.datedAt - b.facts.datedAt);
  if (distance !== 0) return distance < 0;
  return a.facts.contentHash < b.facts.contentHash;
}

export function bestParent(
  orphan: ParentFacts,
  candidates: Iterable<ParentFacts>,
): { facts: ParentFacts; score: number } | null {
  let best: { facts: ParentFacts; score: number } | null = null;
  for (const facts of candidates) {
    const score = parentScore(orphan, facts);
    if (score === 0) continue;
    if (best === null || isBetterParent(orphan, { facts, score }, best)) best = { facts, score };
  }
  return best;
}

export function parentFacts(message: ThreadMessage): ParentFacts {
  return { ...message, isOrphan: isOrphan(message), isOutbound: false };
}

function isEarlier(a: ParentFacts, b: ParentFacts): boolean {
  return a.datedAt === b.datedAt ? a.contentHash < b.contentHash : a.datedAt < b.datedAt;
}

/** Both sorted ascending. */
function countCommon(a: readonly number[], b: readonly number[]): number {
  let count = 0;
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) count += 1;
    if (a[i]! <= b[j]!) i += 1;
    else j += 1;
  }
  return count;
}
