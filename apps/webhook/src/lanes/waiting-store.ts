import type { Database } from '@dak/platform/postgres';

export interface WaitingDelivery {
  endpointId: string;
  id: string;
}

export interface UncheckedRow {
  organization_id: string;
  endpoint_id: string;
  id: string;
  trigger: string;
  mailbox_id: string | null;
  department_id: string | null;
  conversation_id: string | null;
  needs_send: boolean | null;
  owner_user_id: string;
  department_ids: string[];
}

/** Owners who see the whole organization need no check. */
const UNCHECKED = `
  select d.organization_id, d.endpoint_id, d.id, d.trigger, m.mailbox_id, m.department_id, m.conversation_id,
         m.needs_send, e.owner_user_id, p.department_ids
    from unnest($1::uuid[], $2::uuid[]) as w (endpoint_id, id)
    join delivery d on d.endpoint_id = w.endpoint_id and d.id = w.id
    join message m on m.organization_id = d.organization_id and m.event_id = d.event_id
    join endpoint e on e.organization_id = d.organization_id and e.id = d.endpoint_id
    join person p on p.organization_id = e.organization_id and p.user_id = e.owner_user_id and p.role = 'user'`;

const CANCEL = `
  update delivery d
     set state = 'canceled', error_code = 'owner_cannot_read', finished_at = now()
    from unnest($1::uuid[], $2::uuid[]) as w (endpoint_id, id)
   where d.endpoint_id = w.endpoint_id and d.id = w.id and d.state = 'pending'`;

export async function selectUnchecked(
  database: Database,
  waiting: readonly WaitingDelivery[],
): Promise<UncheckedRow[]> {
  const [rows] = await database.batchAsWorker([
    { name: 'webhook_unchecked', text: UNCHECKED, values: columnsOf(waiting) },
  ]);
  return rows as unknown as UncheckedRow[];
}

/** Cancels deliveries whose owners may not read their events. */
export async function cancelDeliveries(
  database: Database,
  waiting: readonly WaitingDelivery[],
): Promise<void> {
  if (waiting.length === 0) return;
  const values = columnsOf(waiting);
  await database.batchAsWorker([{ name: 'webhook_cancel_unreadable', text: CANCEL, values }]);
}

function columnsOf(waiting: readonly WaitingDelivery[]): [endpointIds: string[], ids: string[]] {
  return [waiting.map(({ endpointId }) => endpointId), waiting.map(({ id }) => id)];
}

const POSTPONE = `
  update delivery d
     set next_at = now() + make_interval(secs => $3::float8 / 1000)
    from unnest($1::uuid[], $2::uuid[]) as w (endpoint_id, id)
   where d.endpoint_id = w.endpoint_id and d.id = w.id and d.state = 'pending'`;

/** Puts deliveries off whose owners' rights are unknown. */
export async function postpone(
  database: Database,
  waiting: readonly WaitingDelivery[],
  byMs: number,
): Promise<void> {
  const values = [...columnsOf(waiting), byMs];
  await database.batchAsWorker([{ name: 'webhook_postpone', text: POSTPONE, values }]);
}
