import type { AddressRecord } from '@dak/contracts/api';
import type { Address } from '@dak/formats/rfc5322';
import { uuidv7 } from '@dak/kernel';
import type { NewAttachment, NewMessage } from '../../conversations/messages/new-message';
import type { ThreadMessage } from '../../conversations/threading/threading';
import type { SpoolEntry } from '../../spool/spool-entry';
import type { AttachmentReading, MessageReading } from '../reading/message-reading';
import { usableId } from './thread-message';

/** Characters of a body that are stored; the raw message has all of it. */
const MAX_BODY = 2 * 1024 * 1024;
/** The size limit of an index entry. */
const MAX_BASE_SUBJECT = 200;
const MAX_SUBJECT = 2000;
const EARLIEST = Date.UTC(1970, 0, 1);

export interface InboundMessageFacts {
  readonly entry: SpoolEntry;
  readonly reading: MessageReading;
  readonly thread: ThreadMessage;
  readonly rawSha256: string;
  readonly dedupeKey: Uint8Array | null;
  /** Shown instead of the body; null for mail that was read. */
  readonly notice: string | null;
}

/** The row of a message that came in, all but its conversation. */
export function inboundMessage(facts: InboundMessageFacts): Omit<NewMessage, 'conversation'> {
  const { entry, reading, thread } = facts;
  const imported = entry.source === 'import';
  const arrival = entry.receivedAt.getTime();
  const date = datedAt(reading, arrival);
  const from = toRecord(reading.from[0] ?? reading.sender[0]);
  const text = facts.notice ?? reading.text;
  return {
    id: thread.id,
    mailboxId: entry.mailboxId,
    direction: 'inbound',
    status: 'received',
    kind: reading.kind,
    from,
    to: reading.to.map(toAddress),
    cc: reading.cc.map(toAddress),
    bcc: reading.bcc.map(toAddress),
    replyTo: reading.replyTo.map(toAddress),
    subject: reading.subject.slice(0, MAX_SUBJECT),
    baseSubject: indexedSubject(reading.thread.baseSubject),
    bodyText: bounded(text),
    bodyHtml: bounded(reading.htmlSafe),
    textNew: bounded(facts.notice ?? reading.textNew),
    htmlNew: bounded(reading.htmlNew),
    extraction: reading.extraction,
    preview: facts.notice ?? reading.preview,
    messageIdHeader: usableId(reading.messageId),
    inReplyTo: thread.inReplyTo,
    references: thread.references,
    authentication: null,
    flags: flagsOf(entry, reading),
    safety: null,
    author: {
      type: 'external',
      id: null,
      name: from === null ? '' : from.name || from.email,
      runId: null,
    },
    mentions: [],
    unread: entry.unread,
    labels: entry.labels,
    rawSha256: facts.rawSha256,
    sizeBytes: entry.sizeBytes,
    dedupeKey: facts.dedupeKey,
    sortAt: new Date(Math.min(date, arrival)).toISOString(),
    sendAt: null,
    sentAt: reading.date === null ? null : new Date(date).toISOString(),
    receivedAt: new Date(imported ? date : arrival).toISOString(),
    attachments: reading.attachments.map(toAttachment),
    imported,
    traceparent: entry.traceparent,
  };
}

/** The base subject as far as an index takes it. */
export function indexedSubject(baseSubject: string): string {
  return [...baseSubject].slice(0, MAX_BASE_SUBJECT).join('');
}

/** The Date field in milliseconds, or the arrival where it is missing or cannot be. */
function datedAt(reading: MessageReading, arrival: number): number {
  const date = reading.date === null ? Number.NaN : Date.parse(reading.date);
  return Number.isNaN(date) || date < EARLIEST || date > arrival ? arrival : date;
}

function flagsOf(entry: SpoolEntry, reading: MessageReading): NewMessage['flags'] {
  const types = new Set(reading.parts.map((part) => part.contentType));
  return {
    auto_generated: ['auto_reply', 'dsn', 'arf', 'mdn'].includes(reading.kind),
    list_mail: reading.kind === 'list' || reading.listId !== null,
    bounce: reading.kind === 'dsn',
    out_of_office: reading.kind === 'auto_reply',
    encrypted: types.has('application/pgp-encrypted') || types.has('application/pkcs7-mime'),
    signed:
      types.has('application/pgp-signature') ||
      types.has('application/pkcs7-signature') ||
      types.has('application/x-pkcs7-signature'),
    no_auto_reply: !reading.mayAutoReply,
    // An import does not know the envelope.
    empty_reverse_path: entry.source !== 'import' && entry.mailFrom === '',
  };
}

function toAttachment(attachment: AttachmentReading, index: number): NewAttachment {
  return {
    id: uuidv7(),
    filename: attachment.filename ?? `attachment-${index + 1}`,
    contentType: attachment.contentType,
    sizeBytes: attachment.sizeBytes,
    sha256: attachment.sha256,
    disposition: attachment.disposition,
    contentId: attachment.contentId,
  };
}

function toAddress({ address, name }: Address): AddressRecord {
  return { email: address, name };
}

function toRecord(address: Address | undefined): AddressRecord | null {
  return address === undefined ? null : toAddress(address);
}

function bounded(text: string | null): string | null {
  return text === null ? null : text.slice(0, MAX_BODY);
}
