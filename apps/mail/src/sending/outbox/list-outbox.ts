import { InvalidError, isUuid } from '@dak/kernel';
import type { ListOutboxRequest, Page } from '@dak/contracts/mail';
import type { CallContext } from '@dak/platform/grpc';
import { jsonBytes, pageOf, pageWindow } from '@dak/platform/paging';
import { selectDeliveries } from '../../conversations/messages/delivery-summary-store';
import type { Readers } from '../../db/database-reader';
import { selectOutboxPage } from './outbox-store';
import { renderOutboxEntry } from './render-outbox-entry';

/** Submissions whose mailboxes and conversations the caller may send from, newest first; by default those that are not done. */
export async function listOutbox(
  deps: { readers: Readers; cursorKey: Uint8Array },
  request: ListOutboxRequest,
  { principal }: CallContext,
): Promise<Page> {
  const { organizationId } = principal;
  const { mailboxId, status } = request;
  if (mailboxId !== undefined && !isUuid(mailboxId))
    throw new InvalidError('mailbox must be a UUID.');
  const scope = { organizationId, list: 'outbox', filter: { mailboxId, status } };
  const window = pageWindow(deps.cursorKey, scope, request.page);
  const reader = deps.readers(organizationId);
  const { rows, total } = await selectOutboxPage(
    reader,
    principal,
    { mailboxId, statuses: statusesOf(status) },
    { limit: window.perPage + 1, offset: window.offset, after: window.after },
  );
  const deliveries = Map.groupBy(
    await selectDeliveries(
      reader,
      organizationId,
      rows.map((row) => row.id),
    ),
    (row) => row.submission_id,
  );
  return pageOf(
    deps.cursorKey,
    scope,
    window,
    rows,
    { count: Math.min(total, 10_000), isEstimate: total > 10_000 },
    (shown) => jsonBytes(shown.map((row) => renderOutboxEntry(row, deliveries.get(row.id) ?? []))),
    (row) => [row.id],
  );
}

/** null = those not done yet. An unknown status matches nothing. */
function statusesOf(status: string | undefined): string[] | 'all' | null {
  if (status === undefined || status === '') return null;
  const names = status.split(',').map((name) => name.trim());
  if (names.includes('all')) return 'all';
  // The message shows mail on hold as queued.
  return names.includes('queued') ? [...names, 'held'] : names;
}
