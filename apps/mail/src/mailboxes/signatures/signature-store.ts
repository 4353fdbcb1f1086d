import type { Principal } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import { SqlParameters } from '../../db/sql-parameters';
import { mailboxIsOpen } from '../visibility-store';

/** Ids of the organization's signatures and of those of mailboxes that the caller sees. */
export async function selectVisibleSignatures(
  tx: SqlExecutor,
  principal: Principal,
): Promise<string[]> {
  const parameters = new SqlParameters();
  const organization = parameters.add(principal.organizationId);
  const isOpen = mailboxIsOpen(principal, 'read', 's.mailbox_id', parameters);
  const { rows } = await tx.query<{ id: string }>(
    `select s.id
       from signature s
      where s.organization_id = ${organization}::uuid and (s.mailbox_id is null or ${isOpen})`,
    parameters.values,
  );
  return rows.map(({ id }) => id);
}
