import { htmlToText } from '@dak/formats/html';

import type { ExtractionMethod } from './new-lines';
import { newHtmlOfReply } from './reply-html';
import { newTextOfReply } from './reply-text';
import { stripSignature } from './signature';

/** The new part of a reply in the forms that the message has. */
export interface ExtractedReply {
  /** Null when the message has no text at all; made from the HTML when there is no plain text. */
  text: string | null;
  /** Not sanitized; null when the message has no HTML. */
  html: string | null;
  method: ExtractionMethod;
  confidence: number;
  language: string | null;
}

/**
 * What the author wrote now, from the plain text and the HTML body of a message. Each is cut by itself, because the
 * two often break lines and mark quotations differently; `method` and `confidence` are those of the text.
 */
export function extractReply(body: { text: string | null; html: string | null }): ExtractedReply {
  const fromHtml = body.html === null ? null : newHtmlOfReply(body.html);
  const html = fromHtml?.html ?? null;
  if (body.text !== null) return { ...newTextOfReply(body.text), html };
  if (fromHtml === null) return { text: null, html, method: 'none', confidence: 0, language: null };
  const text = stripSignature(htmlToText(fromHtml.html, { quoteMarks: false }));
  return { ...fromHtml, text: text === '' ? null : text };
}
