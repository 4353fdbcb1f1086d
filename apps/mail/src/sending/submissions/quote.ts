import { escapeHtml, textAsHtml } from '@dak/formats/html';
import { formatRecipient, type Recipient } from '@dak/contracts/api';

/** The mail that an answer quotes or a forward carries. */
export interface Quote {
  readonly kind: 'reply' | 'forward';
  readonly from: Recipient | null;
  readonly to: readonly Recipient[];
  readonly cc: readonly Recipient[];
  readonly subject: string;
  /** RFC 3339 UTC */
  readonly date: string;
  readonly text: string;
  /** Sanitized; null when the mail has no HTML. */
  readonly html: string | null;
}

/**
 * The attribution names the time in ISO order and UTC: so month and day cannot be confused, and its
 * frame ("On …, … wrote:") is the one that all clients recognize when they fold quotes.
 */
export function quoteAsText(quote: Quote): string {
  const text = quote.text.replace(/\r\n?/g, '\n').trimEnd();
  if (quote.kind === 'forward') {
    return ['---------- Forwarded message ----------', ...forwardLines(quote), '', text].join('\n');
  }
  const quoted = text.split('\n').map((line) => (line.startsWith('>') ? `>${line}` : `> ${line}`));
  return [attribution(quote), ...quoted].join('\n');
}

export function quoteAsHtml(quote: Quote): string {
  const body = quote.html ?? textAsHtml(quote.text);
  if (quote.kind === 'forward') {
    const head = forwardLines(quote).map(escapeHtml).join('<br>\n');
    return `<div class="forwarded">---------- Forwarded message ----------<br>\n${head}<br>\n<br>\n${body}</div>`;
  }
  return `<div class="quote"><p>${escapeHtml(attribution(quote))}</p>\n<blockquote type="cite">${body}</blockquote></div>`;
}

function attribution({ date, from }: Quote): string {
  const author = from === null ? 'unknown sender' : formatRecipient(from);
  return `On ${minuteOf(date)}, ${author} wrote:`;
}

function forwardLines(quote: Quote): string[] {
  const list = (recipients: readonly Recipient[]) => recipients.map(formatRecipient).join(', ');
  return [
    `From: ${quote.from === null ? 'unknown sender' : formatRecipient(quote.from)}`,
    `Date: ${minuteOf(quote.date)}`,
    `Subject: ${quote.subject}`,
    ...(quote.to.length > 0 ? [`To: ${list(quote.to)}`] : []),
    ...(quote.cc.length > 0 ? [`Cc: ${list(quote.cc)}`] : []),
  ];
}

function minuteOf(date: string): string {
  return `${date.slice(0, 10)} ${date.slice(11, 16)} UTC`;
}
