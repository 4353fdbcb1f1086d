import type { ListMailboxesRequest, Page } from '@dak/contracts/mail';
import type { CallContext } from '@dak/platform/grpc';
import { jsonBytes, pageOf, pageWindow } from '@dak/platform/paging';
import type { MailboxDeps } from './mailbox-deps';
import { mailboxRecords } from './mailbox-records';
import { selectMailboxes } from './mailbox-store';

/** The mailboxes that the caller sees, by address. */
export async function listMailboxes(
  { database, clock, cursorKey }: MailboxDeps,
  request: ListMailboxesRequest,
  { principal }: CallContext,
): Promise<Page> {
  const { organizationId } = principal;
  const filter = { query: request.query, includeDeleted: request.includeDeleted };
  const scope = { organizationId, list: 'mailboxes', filter };
  const window = pageWindow(cursorKey, scope, request.page);
  return database.inTenant(organizationId, async (tx) => {
    const { rows, total } = await selectMailboxes(tx, principal, filter, {
      limit: window.perPage + 1,
      offset: window.offset,
      after: window.after,
    });
    const records = await mailboxRecords(tx, organizationId, rows, clock());
    return pageOf(
      cursorKey,
      scope,
      window,
      records,
      { count: total, isEstimate: false },
      jsonBytes,
      (record) => [record.address, record.id],
    );
  });
}
