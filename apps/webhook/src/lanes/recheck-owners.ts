import type { Database } from '@dak/platform/postgres';
import { readableBy, type VisibilityClient } from '../visibility/readable-by';

export interface WaitingDelivery {
  endpointId: string;
  id: string;
}

interface QuestionedRow {
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

/** Owners who see the whole organization need no question. */
const QUESTIONED = `
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

/**
 * Cancels what the owners of the endpoints may not read any more: one question per organization,
 * however many wait.
 * @returns ids of those that may not go out
 * @throws UnavailableError and the like when the mail service does not answer; none may go out then
 */
export async function cancelUnreadable(
  database: Database,
  visibility: VisibilityClient,
  waiting: readonly WaitingDelivery[],
): Promise<Set<string>> {
  const [rows] = await database.batchAsWorker([
    { name: 'webhook_questioned', text: QUESTIONED, values: columnsOf(waiting) },
  ]);
  const questioned = Map.groupBy(
    rows as unknown as QuestionedRow[],
    ({ organization_id }) => organization_id,
  );
  const refused = (
    await Promise.all(
      [...questioned].map(([organizationId, own]) => unreadable(visibility, organizationId, own)),
    )
  ).flat();
  await cancelDeliveries(
    database,
    refused.map((row) => ({ endpointId: row.endpoint_id, id: row.id })),
  );
  return new Set(refused.map(({ id }) => id));
}

/** Of which it is known that they may not be read. */
export async function cancelDeliveries(
  database: Database,
  waiting: readonly WaitingDelivery[],
): Promise<void> {
  if (waiting.length === 0) return;
  const values = columnsOf(waiting);
  await database.batchAsWorker([{ name: 'webhook_cancel_unreadable', text: CANCEL, values }]);
}

async function unreadable(
  visibility: VisibilityClient,
  organizationId: string,
  rows: readonly QuestionedRow[],
): Promise<QuestionedRow[]> {
  const places = [...Map.groupBy(rows, ({ conversation_id }) => conversation_id)].flatMap(
    ([conversationId, own]) => {
      if (conversationId === null) return [];
      const { mailbox_id, department_id } = own[0]!;
      return [
        {
          conversationId,
          mailboxId: mailbox_id ?? '',
          departmentId: department_id ?? undefined,
          readers: own.map(({ owner_user_id, department_ids }) => ({
            userId: owner_user_id,
            departmentIds: department_ids,
          })),
        },
      ];
    },
  );
  const mayRead = await readableBy(visibility, organizationId, places);
  // What happened outside of conversations is for administrators; a test tells nothing about anybody.
  return rows.filter(({ conversation_id, trigger, owner_user_id, needs_send }) =>
    conversation_id === null
      ? trigger !== 'test'
      : !mayRead(conversation_id, owner_user_id, needs_send ?? false),
  );
}

function columnsOf(waiting: readonly WaitingDelivery[]): [endpointIds: string[], ids: string[]] {
  return [waiting.map(({ endpointId }) => endpointId), waiting.map(({ id }) => id)];
}

const POSTPONE = `
  update delivery d
     set next_at = now() + make_interval(secs => $3::float8 / 1000)
    from unnest($1::uuid[], $2::uuid[]) as w (endpoint_id, id)
   where d.endpoint_id = w.endpoint_id and d.id = w.id and d.state = 'pending'`;

/** Nothing is told until it is known who may read it. */
export async function postpone(
  database: Database,
  waiting: readonly WaitingDelivery[],
  byMs: number,
): Promise<void> {
  const values = [...columnsOf(waiting), byMs];
  await database.batchAsWorker([{ name: 'webhook_postpone', text: POSTPONE, values }]);
}
