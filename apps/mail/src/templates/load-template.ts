import { isUuid, NotFoundError } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import { selectTemplate, type TemplateRow } from './template-store';

/** @throws NotFoundError */
export async function loadTemplate(
  tx: SqlExecutor,
  organizationId: string,
  id: string,
  options: { lock?: boolean } = {},
): Promise<TemplateRow> {
  const row = isUuid(id) ? await selectTemplate(tx, organizationId, id, options) : null;
  if (row === null) throw new NotFoundError('template');
  return row;
}
