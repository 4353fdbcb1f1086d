import { DomainError, InvalidError } from '@dak/kernel';
import type { TemplateContent as ContentMessage } from '@dak/contracts/mail';
import { parseSubject } from '../../conversations/messages/parse-subject';
import { storableText } from '../../db/sql-parameters';
import { safeTemplateHtml } from './template-html';
import { parseTags } from './template-tags';
import { parseVariables, type TemplateVariable } from './template-variable';

/** What a version of a template says. */
export interface TemplateContent {
  readonly name: string;
  readonly alias: string | null;
  readonly subject: string;
  readonly bodyText: string | null;
  /** Sanitized, style sheet inlined. */
  readonly bodyHtml: string | null;
  readonly variables: readonly TemplateVariable[];
}

export const TEMPLATE_FIELDS = [
  'name',
  'alias',
  'subject',
  'body_text',
  'body_html',
  'variables',
] as const;

const MAX_NAME_LENGTH = 200;
const MAX_BODY_BYTES = 200 * 1024;
/** As JSON. A page of 100 has to fit into one answer between services, which is 48 MB at most. */
const MAX_CONTENT_BYTES = 460 * 1024;
const ALIAS = /^[a-z0-9][a-z0-9._-]{0,62}$/;

/**
 * The template with the fields that a caller sent, checked as a whole.
 * @param before null for a new one
 * @throws InvalidError naming the field and, where it is a tag that is wrong, the tag
 * @throws DomainError `too_large`
 */
export function withTemplateFields(
  before: TemplateContent | null,
  fields: readonly string[],
  message: ContentMessage,
): TemplateContent {
  const content = changedContent(before, fields, message);
  if (Buffer.byteLength(JSON.stringify(content)) > MAX_CONTENT_BYTES) {
    throw new DomainError(
      'too_large',
      'template_too_large',
      `body_text, body_html with its style sheet written into it, and variables together must not be larger than ${MAX_CONTENT_BYTES} bytes as JSON. Shorten them.`,
    );
  }
  return content;
}

function changedContent(
  before: TemplateContent | null,
  fields: readonly string[],
  message: ContentMessage,
): TemplateContent {
  const isSent = (field: (typeof TEMPLATE_FIELDS)[number]) => fields.includes(field);
  const old: TemplateContent = before ?? {
    name: '',
    alias: null,
    subject: '',
    bodyText: null,
    bodyHtml: null,
    variables: [],
  };
  // Unsafe HTML is parsed for tags first, so that the sentences are about what the caller wrote.
  const variables = isSent('variables') ? parseVariables(message.variablesJson) : old.variables;
  const content: TemplateContent = {
    name: isSent('name') || before === null ? parseName(message.name) : old.name,
    alias: isSent('alias') ? parseAlias(message.alias) : old.alias,
    subject: isSent('subject') ? parseSubject(message.subject) : old.subject,
    bodyText: isSent('body_text') ? parseBody(message.bodyText, 'body_text') : old.bodyText,
    bodyHtml: isSent('body_html') ? parseBody(message.bodyHtml, 'body_html') : old.bodyHtml,
    variables,
  };
  if (content.bodyText === null && content.bodyHtml === null) {
    throw new InvalidError('body_text and body_html are both empty. Give at least one.');
  }
  parseTags(content.subject, 'subject', variables);
  if (content.bodyText !== null) parseTags(content.bodyText, 'body_text', variables);
  if (content.bodyHtml === null) return content;
  parseTags(content.bodyHtml, 'body_html', variables);
  if (!isSent('body_html')) return content;
  const bodyHtml = safeTemplateHtml(content.bodyHtml);
  parseTags(bodyHtml, 'body_html', variables);
  return { ...content, bodyHtml };
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

function parseName(name: string): string {
  const text = storableText(name).trim();
  if (text === '' || text.length > MAX_NAME_LENGTH || /\p{Cc}/u.test(text)) {
    throw new InvalidError(
      `name must be 1 to ${MAX_NAME_LENGTH} characters without line breaks or other control characters.`,
    );
  }
  return text;
}

function parseAlias(alias: string | undefined): string | null {
  if (alias === undefined) return null;
  if (!ALIAS.test(alias)) {
    throw new InvalidError(
      'alias must be 1 to 63 lower-case letters, digits, dots, underscores and hyphens, the first a letter or digit.',
    );
  }
  return alias;
}

function parseBody(body: string | undefined, field: string): string | null {
  if (body === undefined || body.trim() === '') return null;
  if (Buffer.byteLength(body) > MAX_BODY_BYTES) {
    throw new DomainError(
      'too_large',
      'template_too_large',
      `${field} must not be larger than ${MAX_BODY_BYTES} bytes. Link to large images instead of including them.`,
    );
  }
  return storableText(body);
}
