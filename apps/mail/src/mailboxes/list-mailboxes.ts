import type { ListMailboxesRequest, Page } from '@dak/contracts/mail';
import type { CallContext } from '@dak/platform/grpc';
import { listPage } from '@dak/platform/paging';
import type { MailboxDeps } from './mailbox-deps';
import { mailboxRecords } from './mailbox-records';
import { selectMailboxes } from './mailbox-store';

/** The mailboxes that the caller sees, by address. */
export function listMailboxes(
  { database, clock, cursorKey }: MailboxDeps,
  { query, includeDeleted, page }: ListMailboxesRequest,
  { principal }: CallContext,
): Promise<Page> {
  const { organizationId } = principal;
  const filter = { query, includeDeleted };
  return listPage(cursorKey, page, {
    scope: { organizationId, list: 'mailboxes', filter },
    select: (window) =>
      database.inTenant(organizationId, async (tx) => {
        const { rows, total } = await selectMailboxes(tx, principal, filter, window);
        return { rows: await mailboxRecords(tx, organizationId, rows, clock()), total };
      }),
    recordOf: (record) => record,
    positionOf: ({ address, id }) => [address, id],
  });
}
