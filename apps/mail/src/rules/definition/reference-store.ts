import type { Principal } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import { SqlParameters } from '../../db/sql-parameters';
import { type Access, mailboxIsOpen } from '../../mailboxes/visibility-store';

/** The mailboxes among these that the caller sees, and whether they have the access level there. */
export async function selectVisibleMailboxes(
  tx: SqlExecutor,
  principal: Principal,
  ids: readonly string[],
  access: Access,
): Promise<Map<string, boolean>> {
  const parameters = new SqlParameters();
  const organization = parameters.add(principal.organizationId);
  const wanted = parameters.add(ids);
  const isVisible = mailboxIsOpen(principal, 'read', 'm.id', parameters);
  const isOpen = mailboxIsOpen(principal, access, 'm.id', parameters);
  const { rows } = await tx.query<{ id: string; is_open: boolean }>(
    `select m.id, ${isOpen} as is_open
       from mailbox m
      where m.organization_id = ${organization} and m.id = any(${wanted}::uuid[])
        and m.deleted_at is null and ${isVisible}`,
    parameters.values,
  );
  return new Map(rows.map((row) => [row.id, row.is_open]));
}
