import type { SIGNATURE_POSITIONS } from '@dak/contracts/api';
import { htmlToPlainText, textAsHtml } from '@dak/formats/html';
import { quoteAsHtml, quoteAsText, type Quote } from './quote';

export interface SignatureText {
  readonly bodyText: string;
  readonly bodyHtml: string;
}

export type SignaturePosition = (typeof SIGNATURE_POSITIONS)[number];

export interface BodyParts {
  readonly bodyText: string | null;
  readonly bodyHtml: string | null;
  readonly signature: SignatureText | null;
  readonly signaturePosition: SignaturePosition;
  readonly quote: Quote | null;
}

export interface Body {
  /** Lines end in LF. */
  readonly text: string;
  /** null: the mail is plain text. */
  readonly html: string | null;
}

/**
 * The final body: the author's text, the signature and the quoted mail, in text and, if HTML
 * was written, in HTML. Text is always there: it is made from the HTML where none was given.
 */
export function assembleBody(parts: BodyParts): Body {
  const { bodyHtml, signature, quote } = parts;
  const written = parts.bodyText ?? (bodyHtml === null ? '' : htmlToPlainText(bodyHtml));
  const text = inOrder(
    parts.signaturePosition,
    written.replace(/\r\n?/g, '\n').replace(/\s+$/, ''),
    signature === null ? null : signatureAsText(signature),
    quote === null ? null : quoteAsText(quote),
  ).join('\n\n');
  if (bodyHtml === null) return { text, html: null };
  const html = inOrder(
    parts.signaturePosition,
    bodyHtml,
    signature === null ? null : signatureAsHtml(signature),
    quote === null ? null : quoteAsHtml(quote),
  ).join('\n');
  return { text, html };
}

function inOrder(
  position: SignaturePosition,
  body: string,
  signature: string | null,
  quote: string | null,
): string[] {
  const tail = position === 'end' ? [quote, signature] : [signature, quote];
  return [body, ...tail].filter((part) => part !== null && part !== '') as string[];
}

/** `-- ` on a separate line marks a signature (RFC 3676 §4.3). */
function signatureAsText({ bodyText, bodyHtml }: SignatureText): string {
  const text = bodyText === '' ? htmlToPlainText(bodyHtml) : bodyText;
  const trimmed = text.replace(/\r\n?/g, '\n').trim();
  return trimmed === '' ? '' : `-- \n${trimmed}`;
}

function signatureAsHtml({ bodyText, bodyHtml }: SignatureText): string {
  const inner = bodyHtml === '' ? textAsHtml(bodyText.trim()) : bodyHtml;
  return inner === '' ? '' : `<div class="signature">-- <br>${inner}</div>`;
}
