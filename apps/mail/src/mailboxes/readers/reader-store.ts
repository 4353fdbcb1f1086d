import type { SqlExecutor } from '@dak/platform/postgres';
import { assignedMailboxes, inLiveMailbox } from '../visibility-store';

export interface Place {
  conversationId: string | null;
  mailboxId: string | null;
  departmentId: string | null;
}

const SELECT_READERS = `
  with recursive
       place as (
         select p.conversation_id, p.mailbox_id, p.department_id, p.n
           from unnest($2::uuid[], $3::uuid[], $4::uuid[])
                with ordinality p(conversation_id, mailbox_id, department_id, n)),
       followed as (
         select p.n, c.mailbox_id, c.department_id, c.merged_into_id
           from place p
           join conversation c on c.organization_id = $1 and c.id = p.conversation_id
         union all
         select f.n, c.mailbox_id, c.department_id, c.merged_into_id
           from followed f
           join conversation c on c.organization_id = $1 and c.id = f.merged_into_id),
       located as (
         select f.n, f.mailbox_id, f.department_id from followed f where f.merged_into_id is null
         union all
         select p.n, p.mailbox_id, p.department_id
           from place p
          where not exists (select from followed f where f.n = p.n)),
       live as materialized (
         select l.*
           from located l
          where l.mailbox_id is not null and ${inLiveMailbox('$1', 'l.mailbox_id')}),
       reader as materialized (
         select r.user_id, r.department_ids
           from jsonb_to_recordset($5::jsonb) r(user_id uuid, department_ids uuid[])),
       assignment as materialized (
         select r.user_id, a.mailbox_id, a.access = 'send' as may_send
           from reader r
          cross join lateral (${assignedMailboxes({
            organization: '$1',
            user: 'r.user_id',
            departments: 'r.department_ids',
            withAccess: true,
          })}) a)
  select (readable.n - 1)::int as index, array_agg(readable.user_id::text) as user_ids,
         array_agg(readable.user_id::text) filter (where readable.may_send) as sender_ids
    from (select n, user_id, bool_or(may_send) as may_send from (
          select l.n, a.user_id, a.may_send from live l join assignment a on a.mailbox_id = l.mailbox_id
          union all
          select l.n, r.user_id, true
            from reader r
           cross join unnest(r.department_ids) d(id)
            join live l on l.department_id = d.id
         ) open group by n, user_id) readable
   group by readable.n`;

/**
 * The users who may read at each place, and those of them who may send, by the index of the place; places without any are absent. A place
 * counts as where its conversation is now, and as given only when that does not exist.
 */
export async function selectReaders(
  tx: SqlExecutor,
  organizationId: string,
  places: readonly Place[],
  readers: readonly { user_id: string; department_ids: readonly string[] }[],
): Promise<Map<number, { userIds: string[]; senderIds: string[] }>> {
  const { rows } = await tx.query<{
    index: number;
    user_ids: string[];
    sender_ids: string[] | null;
  }>(SELECT_READERS, [
    organizationId,
    places.map((place) => place.conversationId),
    places.map((place) => place.mailboxId),
    places.map((place) => place.departmentId),
    JSON.stringify(readers),
  ]);
  return new Map(
    rows.map((row) => [row.index, { userIds: row.user_ids, senderIds: row.sender_ids ?? [] }]),
  );
}
