import type { SubmissionPreview } from '@dak/contracts/api';
import { baseSubject } from '@dak/formats/rfc5322';
import { htmlToPlainText, sanitizeHtml } from '@dak/formats/html';
import type { NewMessage } from '../../conversations/messages/new-message';
import { assembleBody, type Body } from './assemble-body';
import { composeMime } from './compose-mime';
import type { FilledContent } from './fill-template';
import { assertMessageSize, type FileReference } from './load-files';
import type { Quote } from './quote';
import { addressKey } from '@dak/contracts/api';
import { settleRecipients, type RecipientLists } from './recipient-lists';
import type { ThreadHeaders } from './reply-references';
import { decideSendTime, type SendTime } from './send-time';
import type { Sender } from './sender-store';
import type { SubmissionAuthor } from './submission-author';
import type { SubmissionContent } from './submission-request';

/** All that a mail is made of, whatever asked for it; times and ids included. */
export interface SubmissionFacts {
  readonly id: string;
  readonly now: number;
  readonly kind: 'compose' | 'reply' | 'forward';
  /** null: the mail opens a conversation. */
  readonly conversationId: string | null;
  readonly sender: Sender;
  readonly author: SubmissionAuthor;
  readonly lists: RecipientLists;
  readonly subject: string;
  readonly content: SubmissionContent;
  /** Source of the bodies; null: written by the caller. */
  readonly template: FilledContent['template'];
  readonly quote: Quote | null;
  readonly thread: ThreadHeaders;
  readonly files: readonly { readonly reference: FileReference; readonly content: Buffer }[];
  /** Seconds, when the request does not say. */
  readonly defaultUndoSeconds: number;
  /** Header fields beyond those that every mail has. */
  readonly headers?: Readonly<Record<string, string | string[]>>;
}

export interface PreparedSubmission {
  readonly facts: SubmissionFacts;
  readonly recipients: RecipientLists;
  readonly warnings: readonly string[];
  readonly sendTime: SendTime;
  readonly subject: string;
  readonly body: Body;
  readonly messageId: string;
  readonly raw: Buffer;
}

const PREVIEW_LENGTH = 200;

/**
 * Composes a mail once: every attempt sends the stored bytes.
 * @throws InvalidError naming the fault with recipients or times
 * @throws DomainError `message_too_large`
 */
export async function prepareSubmission(facts: SubmissionFacts): Promise<PreparedSubmission> {
  const { sender, content, author, thread } = facts;
  const { recipients, warnings } = settleRecipients(facts.lists);
  const sendTime = decideSendTime(content.sendTime, facts.defaultUndoSeconds, facts.now);
  const body = assembleBody({
    bodyText: content.bodyText,
    bodyHtml: content.bodyHtml,
    signature: sender.signature,
    signaturePosition: content.signaturePosition,
    quote: facts.quote,
  });
  const domain = sender.mailbox.address.slice(sender.mailbox.address.lastIndexOf('@') + 1);
  const messageId = `${facts.id}@${domain}`;
  const raw = await composeMime({
    messageId,
    date: new Date(sendTime.sendAt ?? facts.now),
    from: sender.from,
    replyTo: content.replyTo,
    to: recipients.to,
    cc: recipients.cc,
    subject: facts.subject,
    text: body.text,
    html: body.html,
    inReplyTo: thread.inReplyTo,
    references: thread.references,
    files: facts.files.map(({ reference, content: bytes }) => ({
      filename: reference.filename,
      contentType: reference.content_type,
      disposition: reference.disposition,
      contentId: reference.content_id,
      content: bytes,
    })),
    autoSubmitted: author.isAutomatic
      ? facts.kind === 'reply'
        ? 'auto-replied'
        : 'auto-generated'
      : null,
    headers: facts.headers ?? {},
  });
  assertMessageSize(raw.length);
  return {
    facts,
    recipients,
    warnings: [...warnings, ...missingImages(facts)],
    sendTime,
    subject: facts.subject,
    body,
    messageId,
    raw,
  };
}

/** The row of the message; ids of attachments and the number of a new conversation are given. */
export function toNewMessage(
  prepared: PreparedSubmission,
  ids: {
    rawSha256: string;
    conversation: NewMessage['conversation'];
    attachmentIds: readonly string[];
    traceparent: string | null;
  },
): NewMessage {
  const { facts, body, recipients, sendTime } = prepared;
  const { content, sender } = facts;
  const written =
    content.bodyText ?? (content.bodyHtml === null ? '' : htmlToPlainText(content.bodyHtml));
  const safe = (html: string | null) =>
    html === null ? null : sanitizeHtml(html, { remoteImages: 'off' });
  const at = new Date(facts.now).toISOString();
  const list = (name: keyof RecipientLists) =>
    recipients[name].map(({ email, name }) => ({ email, name }));
  return {
    id: facts.id,
    mailboxId: sender.mailbox.id,
    mailboxAddress: sender.mailbox.address,
    conversation: ids.conversation,
    traceparent: ids.traceparent,
    direction: 'outbound',
    status: sendTime.hold?.reason === 'scheduled' ? 'scheduled' : 'queued',
    kind: null,
    from: { ...sender.from },
    to: list('to'),
    cc: list('cc'),
    bcc: list('bcc'),
    replyTo: content.replyTo.map(({ email, name }) => ({ email, name })),
    subject: prepared.subject,
    baseSubject: baseSubject(prepared.subject).base,
    bodyText: body.text,
    bodyHtml: safe(body.html),
    textNew: written,
    htmlNew: safe(content.bodyHtml),
    extraction: null,
    preview: previewOf(written),
    messageIdHeader: prepared.messageId,
    inReplyTo: facts.thread.inReplyTo,
    references: facts.thread.references,
    authentication: null,
    flags: facts.author.isAutomatic ? { auto_generated: true } : {},
    safety: null,
    author: facts.author.actor,
    mentions: [],
    unread: false,
    labels: content.labels,
    rawSha256: ids.rawSha256,
    sizeBytes: prepared.raw.length,
    dedupeKey: null,
    sortAt: at,
    sendAt: sendTime.sendAt === null ? null : new Date(sendTime.sendAt).toISOString(),
    sentAt: null,
    receivedAt: null,
    attachments: facts.files.map(({ reference }, index) => ({
      id: ids.attachmentIds[index]!,
      filename: reference.filename,
      contentType: reference.content_type,
      sizeBytes: reference.size_bytes,
      sha256: reference.sha256,
      disposition: reference.disposition,
      contentId: reference.content_id,
    })),
    imported: false,
  };
}

export function toPreview(prepared: PreparedSubmission): SubmissionPreview {
  const { facts, sendTime } = prepared;
  const { sender } = facts;
  return {
    mailbox_id: sender.mailbox.id,
    from: { ...sender.from },
    subject: prepared.subject,
    recipients: plainRecipients(prepared.recipients),
    body_text: prepared.body.text,
    body_html: prepared.body.html,
    signature:
      sender.signature === null ? null : { id: sender.signature.id, name: sender.signature.name },
    size_bytes: prepared.raw.length,
    hold: renderHold(sendTime),
    send_at: toTime(sendTime.sendAt),
    suppressed: [],
    warnings: [...prepared.warnings],
  };
}

export function plainRecipients(lists: RecipientLists): SubmissionPreview['recipients'] {
  const emails = (name: keyof RecipientLists) => lists[name].map(({ email }) => email);
  return { to: emails('to'), cc: emails('cc'), bcc: emails('bcc') };
}

export function renderHold({ hold }: SendTime): SubmissionPreview['hold'] {
  return hold === null ? null : { reason: hold.reason, until: toTime(hold.until) };
}

export function toTime(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString();
}

/** Every address of the envelope with its part in it, each once. */
export function envelopeOf(lists: RecipientLists): { email: string; role: keyof RecipientLists }[] {
  const seen = new Set<string>();
  return (['to', 'cc', 'bcc'] as const).flatMap((role) =>
    lists[role].flatMap(({ email }) => {
      const key = addressKey(email);
      if (seen.has(key)) return [];
      seen.add(key);
      return [{ email, role }];
    }),
  );
}

function previewOf(text: string): string {
  return Array.from(
    text
      .slice(0, 4 * PREVIEW_LENGTH)
      .replace(/\s+/g, ' ')
      .trim(),
  )
    .slice(0, PREVIEW_LENGTH)
    .join('');
}

/** `cid:` references that no file answers show as broken images. */
function missingImages({ content, files }: SubmissionFacts): string[] {
  if (content.bodyHtml === null) return [];
  const known = new Set(files.map(({ reference }) => reference.content_id));
  const named = [...content.bodyHtml.matchAll(/\bsrc\s*=\s*["']?cid:([^"'\s>]+)/gi)].map(
    (match) => match[1]!,
  );
  return [...new Set(named)]
    .filter((id) => !known.has(id))
    .map((id) => `body_html shows cid:${id}, but no attachment has this content_id.`);
}
