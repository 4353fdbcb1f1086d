import { CreateTemplate, type TemplateValue } from '@dak/contracts/api';
import { parseRequest } from '@dak/contracts/requests';
import { escapeHtml, sanitizeHtml } from '@dak/formats/html';
import { renderTags } from './render-tags';
import type { TemplateContent } from './template-content';
import { parseTags } from './template-tags';

export interface RenderedTemplate {
  readonly subject: string;
  readonly bodyText: string | null;
  readonly bodyHtml: string | null;
}

const Rendered = CreateTemplate.pick({ subject: true });

/**
 * Subject and bodies with the values in them: escaped in HTML, as they are in text, on one line in
 * the subject. The HTML is sanitized again, because a value may be an address or a color.
 * @throws DomainError `too_large`, InvalidError when the subject becomes too long
 */
export function renderTemplate(
  content: TemplateContent,
  values: ReadonlyMap<string, TemplateValue>,
): RenderedTemplate {
  const fill = (source: string, field: string, write: (value: string) => string) =>
    renderTags(parseTags(source, field, null), values, field, write);
  const { bodyText, bodyHtml } = content;
  const { subject } = parseRequest(Rendered, {
    subject: fill(content.subject, 'subject', onOneLine),
  });
  return {
    subject,
    bodyText: bodyText === null ? null : fill(bodyText, 'body_text', (value) => value),
    bodyHtml:
      bodyHtml === null
        ? null
        : sanitizeHtml(fill(bodyHtml, 'body_html', escapeHtml), { remoteImages: 'on' }),
  };
}

/** A line end in a value would start a new header field (RFC 5322 §2.2). */
function onOneLine(value: string): string {
  return value.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');
}
