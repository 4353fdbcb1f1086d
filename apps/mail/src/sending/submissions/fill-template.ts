import { InvalidError } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import { renderTemplateFor } from '../templates/template-for';
import { assertNotEmpty, type SubmissionContent } from './submission-request';

export interface FilledContent {
  readonly content: SubmissionContent;
  /** The template's, for mail that has none of its own. */
  readonly subject: string;
  /** Source of the bodies. */
  readonly template: { readonly id: string; readonly version: number } | null;
}

/**
 * The content with the bodies that its template makes, if it names one.
 * @throws InvalidError as `renderTemplateFor`, and when nothing comes of it
 */
export async function fillTemplate(
  tx: SqlExecutor,
  organizationId: string,
  content: SubmissionContent,
): Promise<FilledContent> {
  const { templateId, templateVariables } = content;
  if (templateId === null) {
    if (templateVariables === null) return { content, subject: '', template: null };
    throw new InvalidError('template_variables needs a template_id. Name the template.');
  }
  const { subject, bodyText, bodyHtml, version } = await renderTemplateFor(
    tx,
    organizationId,
    templateId,
    templateVariables ?? {},
  );
  const filled = { ...content, bodyText, bodyHtml };
  assertNotEmpty({ ...filled, templateId: null }, subject);
  return { content: filled, subject, template: { id: templateId, version } };
}
