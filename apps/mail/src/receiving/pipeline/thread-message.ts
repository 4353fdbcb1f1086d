import { getHeader } from '@dak/formats/rfc5322';
import { threadEvidence } from '../../conversations/threading/thread-evidence';
import {
  foldSubject,
  formerSubjectOf,
  seriesOf,
  type ThreadMessage,
} from '../../conversations/threading/threading';
import type { MessageReading } from '../reading/message-reading';

export interface ThreadMessageContext {
  id: string;
  mailboxAddress: string;
  /** Lower-case hexadecimal, the same for the same content. */
  contentHash: string;
  /** Milliseconds since the epoch; stands in for a Date field that is absent or unreadable. */
  receivedAt: number;
}

/** References beyond this say nothing more: the first and the last ones are kept. */
const MAX_REFERENCES = 100;
/** A Date beyond this is none, and more than a timestamp takes. */
const LATEST = Date.UTC(2200, 0, 1);
/** Longer ids are accidents, and too long for an index. */
const MAX_ID_LENGTH = 500;

/** What threading works with, out of the reading of a message. */
export function threadMessage(
  reading: MessageReading,
  context: ThreadMessageContext,
): ThreadMessage {
  const { thread } = reading;
  const evidence = threadEvidence({
    from: reading.from,
    recipients: [...reading.to, ...reading.cc, ...reading.replyTo],
    impersonal: [context.mailboxAddress, ...listAddresses(reading)],
    text: reading.text,
    textNew: reading.textNew,
  });
  return {
    id: context.id,
    messageId: usableId(thread.messageId),
    ...answeredIds(reading),
    threadIndexRoot: thread.threadIndexRoot,
    subject: foldSubject(thread.baseSubject),
    formerSubject: formerSubjectOf(thread.baseSubject),
    isReplySubject: thread.isReplySubject,
    series: seriesOf(reading.subject, evidence.author, thread.isReplySubject),
    datedAt: datedAt(reading.date, context.receivedAt),
    contentHash: context.contentHash,
    evidence,
  };
}

function datedAt(date: string | null, receivedAt: number): number {
  const time = date === null ? Number.NaN : Date.parse(date);
  return time >= 0 && time <= LATEST ? time : receivedAt;
}

/** In-Reply-To and References within bounds; a report without them answers the message it is about. */
function answeredIds(reading: MessageReading): Pick<ThreadMessage, 'inReplyTo' | 'references'> {
  const inReplyTo = usableId(reading.thread.inReplyTo);
  const usable = reading.thread.references.filter((id) => usableId(id) !== null);
  const references =
    usable.length <= MAX_REFERENCES ? usable : [usable[0]!, ...usable.slice(1 - MAX_REFERENCES)];
  if (inReplyTo !== null || references.length > 0) return { inReplyTo, references };
  const reported =
    reading.reportedMessage?.messageId ?? reading.disposition?.originalMessageId ?? null;
  return { inReplyTo: usableId(reported), references };
}

/** The id, unless it is empty or too long to be kept; the raw message has it anyway. */
export function usableId(id: string | null): string | null {
  return id === null || id === '' || id.length > MAX_ID_LENGTH ? null : id;
}

/** The posting addresses of the mailing list a message came through (RFC 2369 §3.4, RFC 2919). */
function listAddresses(reading: MessageReading): string[] {
  const post = getHeader(reading.headers, 'list-post');
  const addresses = [...(post?.matchAll(/<mailto:([^>?]+)/gi) ?? [])].map((match) => match[1]!);
  // A list-id is by custom the posting address with its @ made a dot.
  if (reading.listId !== null) addresses.push(reading.listId.replace('.', '@'));
  return addresses;
}
