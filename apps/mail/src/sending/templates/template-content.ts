import { DomainError, InvalidError } from '@dak/kernel';
import { CreateTemplate, UpdateTemplate } from '@dak/contracts/api';
import type { TemplateContent as ContentMessage } from '@dak/contracts/mail';
import { parseRequest, requestOf } from '@dak/contracts/requests';
import { safeTemplateHtml } from './template-html';
import { parseTags } from './template-tags';
import type { TemplateVariable } from './template-variable';

/** The contents of a template version. */
export interface TemplateContent {
  readonly name: string;
  readonly alias: string | null;
  readonly subject: string;
  readonly bodyText: string | null;
  /** Sanitized, style sheet inlined. */
  readonly bodyHtml: string | null;
  readonly variables: readonly TemplateVariable[];
}

/** As JSON. A page of 100 has to fit into one answer between services, which is 48 MB at most. */
const MAX_CONTENT_BYTES = 460 * 1024;

/**
 * A new template, checked as a whole.
 * @throws InvalidError naming the field and, where it is a tag that is wrong, the tag
 * @throws DomainError `too_large`
 */
export function newTemplate(message: ContentMessage): TemplateContent {
  const sent = parseRequest(CreateTemplate, requestOf(message));
  const { body_text: bodyText, body_html: bodyHtml, ...same } = sent;
  return checked({ ...same, bodyText, bodyHtml }, true);
}

/**
 * The template with the fields that a caller sent, checked as a whole.
 * @throws as `newTemplate`
 */
export function changedTemplate(
  before: TemplateContent,
  fields: readonly string[],
  message: ContentMessage,
): TemplateContent {
  const sent = parseRequest(UpdateTemplate, requestOf(message, fields));
  const { body_text: bodyText = before.bodyText, body_html, ...same } = sent;
  const bodyHtml = body_html === undefined ? before.bodyHtml : body_html;
  return checked({ ...before, ...same, bodyText, bodyHtml }, body_html !== undefined);
}

/** @param isUnsafe whether the HTML is a caller's: its tags are read first, so that the sentences are about what the caller wrote */
function checked(content: TemplateContent, isUnsafe: boolean): TemplateContent {
  const { subject, bodyText, bodyHtml, variables } = content;
  if (bodyText === null && bodyHtml === null) {
    throw new InvalidError('body_text and body_html are both empty. Give at least one.');
  }
  parseTags(subject, 'subject', variables);
  if (bodyText !== null) parseTags(bodyText, 'body_text', variables);
  if (bodyHtml !== null) parseTags(bodyHtml, 'body_html', variables);
  let safe = content;
  if (bodyHtml !== null && isUnsafe) {
    safe = { ...content, bodyHtml: safeTemplateHtml(bodyHtml) };
    parseTags(safe.bodyHtml!, 'body_html', variables);
  }
  if (Buffer.byteLength(JSON.stringify(safe)) > MAX_CONTENT_BYTES) {
    throw new DomainError(
      'too_large',
      'template_too_large',
      `body_text, body_html with its style sheet written into it, and variables together must not be larger than ${MAX_CONTENT_BYTES} bytes as JSON. Shorten them.`,
    );
  }
  return safe;
}

export function isSameContent(one: TemplateContent, other: TemplateContent): boolean {
  return (
    one.name === other.name &&
    one.alias === other.alias &&
    one.subject === other.subject &&
    one.bodyText === other.bodyText &&
    one.bodyHtml === other.bodyHtml &&
    JSON.stringify(one.variables) === JSON.stringify(other.variables)
  );
}
