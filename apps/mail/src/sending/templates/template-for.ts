import { InvalidError, isUuid } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import { renderTemplate, type RenderedTemplate } from './render-template';
import { contentOfRow } from './template-record';
import { selectTemplate } from './template-store';
import { resolveVariables } from './template-variable';

export interface FilledTemplate extends RenderedTemplate {
  readonly templateId: string;
  readonly version: number;
}

/**
 * A version of a template, by default the newest, with these values in it, ready to be sent.
 * @param variables by name: absent ones have their fallback
 * @throws InvalidError `unknown_template`, `missing_variables` naming all of them, `unknown_variable`,
 * and for values of the wrong type
 */
export async function renderTemplateFor(
  tx: SqlExecutor,
  organizationId: string,
  templateId: string,
  variables: Readonly<Record<string, unknown>>,
  version: number | null = null,
): Promise<FilledTemplate> {
  const row = isUuid(templateId)
    ? await selectTemplate(tx, organizationId, templateId, { version })
    : null;
  if (row === null) {
    throw new InvalidError(
      'template_id names no template of the organization.',
      'unknown_template',
    );
  }
  const { values, missing } = resolveVariables(row.variables, variables, 'template_variables');
  if (missing.length > 0) {
    throw new InvalidError(
      `template_variables lacks ${missing.join(', ')}, which the template requires. Give a value for each.`,
      'missing_variables',
    );
  }
  const rendered = renderTemplate(contentOfRow(row), values);
  return { ...rendered, templateId: row.id, version: row.version };
}
