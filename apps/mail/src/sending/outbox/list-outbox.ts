import { InvalidError, isUuid } from '@dak/kernel';
import type { ListOutboxRequest, Page } from '@dak/contracts/mail';
import type { CallContext } from '@dak/platform/grpc';
import { jsonBytes, pageOf, pageWindow } from '@dak/platform/paging';
import { selectDeliveries } from '../../conversations/messages/delivery-summary-store';
import type { Readers } from '../../db/database-reader';
import { SqlParameters } from '../../db/sql-parameters';
import { conversationIsOpen } from '../../mailboxes/visibility-store';
import { OUTBOX_COLUMNS, type OutboxRow } from './outbox-store';
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
  const parameters = new SqlParameters();
  const conditions = [
    `s.organization_id = ${parameters.add(organizationId)}`,
    conversationIsOpen(principal, 'send', 'c', parameters),
    'm.deleted_at is null',
  ];
  if (mailboxId !== undefined) conditions.push(`s.mailbox_id = ${parameters.add(mailboxId)}`);
  const wanted = statusesOf(status);
  if (wanted === null) conditions.push('s.finished_at is null');
  else if (wanted !== 'all') conditions.push(`s.status = any(${parameters.add(wanted)}::text[])`);
  const from = `
       from submission s
       join message e      on e.organization_id = s.organization_id and e.id = s.id
       join conversation c on c.organization_id = e.organization_id and c.id = e.conversation_id
       join mailbox m      on m.organization_id = c.organization_id and m.id = c.mailbox_id
      where ${conditions.join(' and ')}`;
  const counted = {
    text: `select count(*) from (select ${from} limit 10001) counted`,
    values: [...parameters.values],
  };
  const after = window.after === null ? '' : `and s.id < ${parameters.add(window.after[0])}`;
  const limit = parameters.add(window.perPage + 1);
  const offset = parameters.add(window.offset);
  const reader = deps.readers(organizationId);
  const [{ rows }, count] = await Promise.all([
    reader.query<OutboxRow>(
      `select ${OUTBOX_COLUMNS} ${from} ${after} order by s.id desc limit ${limit} offset ${offset}`,
      parameters.values,
    ),
    reader.query<{ count: number }>(counted.text, counted.values),
  ]);
  const deliveries = Map.groupBy(
    await selectDeliveries(
      reader,
      organizationId,
      rows.map((row) => row.id),
    ),
    (row) => row.submission_id,
  );
  const total = count.rows[0]!.count;
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
  // Mail on hold is queued to whoever reads the message.
  return names.includes('queued') ? [...names, 'held'] : names;
}
