import MailComposer from 'nodemailer/lib/mail-composer';
import type { Recipient } from './recipient';

export interface OutgoingFile {
  readonly filename: string;
  readonly contentType: string;
  readonly disposition: 'attachment' | 'inline';
  /** Without angle brackets; what `cid:` in the HTML names. */
  readonly contentId: string | null;
  readonly content: Buffer;
}

/** All that ends up in the message. There is no Bcc here, so none can get out. */
export interface OutgoingMail {
  /** msg-ids without angle brackets, here and below. */
  readonly messageId: string;
  readonly date: Date;
  readonly from: Recipient;
  readonly replyTo: readonly Recipient[];
  readonly to: readonly Recipient[];
  readonly cc: readonly Recipient[];
  readonly subject: string;
  readonly text: string;
  readonly html: string | null;
  readonly inReplyTo: string | null;
  readonly references: readonly string[];
  readonly files: readonly OutgoingFile[];
  /** RFC 3834 §5; null for what a person wrote. */
  readonly autoSubmitted: 'auto-generated' | 'auto-replied' | null;
}

/**
 * The RFC 5322 message, lines ending in CRLF. The same input gives the same bytes: Message-ID, Date
 * and boundaries come from it. Text is quoted-printable or base64 and 76 columns wide, so that no
 * relay has a reason to rewrap it and break a signature.
 */
export function composeMime(mail: OutgoingMail): Promise<Buffer> {
  const composer = new MailComposer({
    // Whatever a request names, nothing is read from disk or network here.
    disableFileAccess: true,
    disableUrlAccess: true,
    messageId: `<${mail.messageId}>`,
    date: mail.date,
    baseBoundary: mail.messageId.replace(/[^A-Za-z0-9]/g, '').slice(0, 32),
    newline: 'windows',
    from: toHeader(mail.from),
    to: mail.to.map(toHeader),
    cc: mail.cc.map(toHeader),
    replyTo: mail.replyTo.map(toHeader),
    subject: mail.subject,
    ...(mail.inReplyTo === null ? {} : { inReplyTo: `<${mail.inReplyTo}>` }),
    ...(mail.references.length === 0
      ? {}
      : { references: mail.references.map((id) => `<${id}>`).join(' ') }),
    headers: automaticHeaders(mail),
    text: toContent(mail.text),
    ...(mail.html === null ? {} : { html: toContent(mail.html) }),
    attachments: mail.files.map((file) => ({
      filename: file.filename,
      contentType: file.contentType,
      contentDisposition: file.disposition,
      content: file.content,
      ...(file.contentId === null ? {} : { cid: file.contentId }),
    })),
  } as ConstructorParameters<typeof MailComposer>[0]);
  return new Promise((resolve, reject) => {
    composer.compile().build((error, message) => (error ? reject(error) : resolve(message)));
  });
}

function automaticHeaders(mail: OutgoingMail): Record<string, string> {
  if (mail.autoSubmitted === null) return {};
  return { 'Auto-Submitted': mail.autoSubmitted, 'X-Auto-Response-Suppress': 'All' };
}

function toHeader({ name, email }: Recipient): { name: string; address: string } {
  return { name, address: email };
}

/** Quoted-printable triples the size of scripts other than Latin, where base64 adds a third. */
function toContent(text: string): { content: string; contentTransferEncoding: string } {
  let wide = 0;
  for (let index = 0; index < text.length; index += 1) {
    if (text.charCodeAt(index) > 0x7f) wide += 1;
  }
  const encoding = wide * 5 > text.length ? 'base64' : 'quoted-printable';
  return { content: text, contentTransferEncoding: encoding };
}
