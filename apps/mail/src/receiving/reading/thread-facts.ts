import { baseSubject, getHeader, type ParsedMessage } from '@dak/formats/rfc5322';

import type { ThreadFacts } from './message-reading';

/** A Thread-Index holds a 22-byte root and 5 bytes per reply (MS-OXOMSG §2.2.1.3). */
const THREAD_INDEX_ROOT_BYTES = 22;

/** What threading works with, taken from the headers of a message. */
export function threadFacts(message: ParsedMessage): ThreadFacts {
  const subject = baseSubject(message.subject);
  return {
    messageId: message.messageId,
    inReplyTo: message.inReplyTo[0] ?? null,
    references: message.references,
    threadIndexRoot: threadIndexRoot(getHeader(message.headers, 'thread-index')),
    baseSubject: subject.base,
    isReplySubject: subject.isReply,
    participants: participants(message),
  };
}

function threadIndexRoot(value: string | null): string | null {
  const encoded = value?.replace(/\s+/g, '') ?? '';
  if (!/^[A-Za-z0-9+/]{30,}={0,2}$/.test(encoded)) return null;
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.length < THREAD_INDEX_ROOT_BYTES) return null;
  return bytes.subarray(0, THREAD_INDEX_ROOT_BYTES).toString('hex');
}

function participants(message: ParsedMessage): string[] {
  const all = [message.from, message.sender, message.replyTo, message.to, message.cc].flat();
  return [...new Set(all.map((entry) => entry.address.toLowerCase()))].filter(
    (address) => address !== '',
  );
}
