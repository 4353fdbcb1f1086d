import {
  ForbiddenError,
  isUuid,
  NotFoundError,
  seesWholeOrganization,
  type Principal,
} from '@dak/kernel';
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

/**
 * The template, locked, if the caller may change it: what people are written in the organization's name is
 * up to who wrote it first, and to admins.
 * @throws NotFoundError; ForbiddenError `missing_access`
 */
export async function loadOwnTemplate(
  tx: SqlExecutor,
  principal: Principal,
  id: string,
): Promise<TemplateRow> {
  const row = await loadTemplate(tx, principal.organizationId, id, { lock: true });
  if (seesWholeOrganization(principal) || row.creator_id === principal.userId) return row;
  throw new ForbiddenError(
    'The template is changed by who made it and by admins: ask one of them, or make one of your own.',
    'missing_access',
  );
}
