import { getHeader } from '@dak/formats/rfc5322';
import type { MessageReading } from '../reading/message-reading';
import { threadEvidence } from './thread-evidence';
import { foldSubject, seriesOf, type ThreadMessage } from './threading';

export interface ThreadMessageContext {
  id: string;
  mailboxAddress: string;
  /** Lower-case hexadecimal, the same for the same content. */
  contentHash: string;
  /** Milliseconds since the epoch; stands in for a Date field that is absent or unreadable. */
  receivedAt: number;
}

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
    messageId: thread.messageId,
    inReplyTo: thread.inReplyTo,
    references: thread.references,
    threadIndexRoot: thread.threadIndexRoot,
    subject: foldSubject(thread.baseSubject),
    isReplySubject: thread.isReplySubject,
    series: seriesOf(reading.subject, evidence.author, thread.isReplySubject),
    datedAt: reading.date === null ? context.receivedAt : Date.parse(reading.date),
    contentHash: context.contentHash,
    evidence,
  };
}

/** The posting addresses of the mailing list a message came through (RFC 2369 §3.4, RFC 2919). */
function listAddresses(reading: MessageReading): string[] {
  const post = getHeader(reading.headers, 'list-post');
  const addresses = [...(post?.matchAll(/<mailto:([^>?]+)/gi) ?? [])].map((match) => match[1]!);
  // A list-id is by custom the posting address with its @ made a dot.
  if (reading.listId !== null) addresses.push(reading.listId.replace('.', '@'));
  return addresses;
}
