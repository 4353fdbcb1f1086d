import type { SqlExecutor } from '@dak/platform/postgres';
import { LEGAL_HOLD } from '../conversations/legal-hold';
import { firstIdOf } from './first-id-of';

export interface ExpiredMessage {
  id: string;
  conversation_id: string;
  /** RFC 3339. */
  arrived_at: string;
}

/** Where a walk over messages in the order of their arrival goes on. */
export interface ArrivalPlace {
  arrived_at: string;
  id: string;
}

const NOT_HELD = `not exists (select from conversation c
                              where c.organization_id = x.organization_id and c.id = x.conversation_id
                                and '${LEGAL_HOLD}' = any(c.labels))`;

/** Mail that arrived before, oldest first; unsent mail does not count as old. */
export async function selectExpired(
  tx: SqlExecutor,
  organizationId: string,
  before: string,
  after: ArrivalPlace | null,
  limit: number,
): Promise<ExpiredMessage[]> {
  const { rows } = await tx.query<ExpiredMessage>(
    `select x.id, x.conversation_id, coalesce(x.received_at, x.created_at)::text as arrived_at
       from message x
      where x.organization_id = $1
        and coalesce(x.received_at, x.created_at) < $2
        and ($3::timestamptz is null or (coalesce(x.received_at, x.created_at), x.id) > ($3, $4::uuid))
        and ${NOT_HELD}
        and not exists (select from submission s
                         where s.organization_id = x.organization_id and s.id = x.id and s.finished_at is null)
      order by coalesce(x.received_at, x.created_at), x.id
      limit $5`,
    [organizationId, before, after?.arrived_at ?? null, after?.id ?? null, limit],
  );
  return rows;
}

/** Deleted mailboxes whose time to be restored is over, unless something in them is held. */
export async function selectLapsedMailboxes(
  tx: SqlExecutor,
  organizationId: string,
  deletedBefore: string,
): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `select m.id
       from mailbox m
      where m.organization_id = $1 and m.deleted_at < $2
        and not exists (select from conversation c
                         where c.organization_id = $1 and c.mailbox_id = m.id
                           and '${LEGAL_HOLD}' = any(c.labels))`,
    [organizationId, deletedBefore],
  );
  return rows.map(({ id }) => id);
}

export async function selectMessagesOfMailbox(
  tx: SqlExecutor,
  organizationId: string,
  mailboxId: string,
  limit: number,
): Promise<ExpiredMessage[]> {
  const { rows } = await tx.query<ExpiredMessage>(
    `select id, conversation_id, coalesce(received_at, created_at)::text as arrived_at
       from message where organization_id = $1 and mailbox_id = $2 limit $3`,
    [organizationId, mailboxId, limit],
  );
  return rows;
}

/**
 * Deletes messages with everything that hangs on them, and notes their content as perhaps not needed
 * any more; those that were stored after `since` are noted for others to forget.
 */
export async function deleteMessages(
  tx: SqlExecutor,
  organizationId: string,
  ids: readonly string[],
  since: string,
): Promise<number> {
  const mine = [organizationId, ids];
  await tx.query(
    `insert into blob_candidate (organization_id, sha256)
     select distinct $1::uuid, found.sha256
       from (select raw_sha256 as sha256 from message where organization_id = $1 and id = any($2::uuid[])
              union all
             select sha256 from attachment where organization_id = $1 and message_id = any($2::uuid[])
              union all
             select raw_sha256 from submission where organization_id = $1 and id = any($2::uuid[])) found
      where found.sha256 is not null
         on conflict do nothing`,
    mine,
  );
  await tx.query(
    `insert into removed_mail (organization_id, id, conversation_id, message_id, removed_at)
     select organization_id, gen_random_uuid(), conversation_id, id, now()
       from message where organization_id = $1 and id = any($2::uuid[]) and created_at >= $3`,
    [...mine, since],
  );
  for (const statement of DEPENDENTS) await tx.query(statement, mine);
  const { rowCount } = await tx.query(
    'delete from message where organization_id = $1 and id = any($2::uuid[])',
    mine,
  );
  return rowCount;
}

/** Deletes messages; rows that reference them with `on delete cascade` follow automatically. */
const DEPENDENTS = [
  `delete from delivery_attempt
    where organization_id = $1
      and delivery_id in (select id from delivery where organization_id = $1 and submission_id = any($2::uuid[]))`,
  `delete from rule_run where organization_id = $1 and message_id = any($2::uuid[])`,
  `delete from sender_contact s
    using message m
    where m.organization_id = $1 and m.id = any($2::uuid[])
      and s.organization_id = $1 and s.mailbox_id = m.mailbox_id
      and s.sender = lower(left(m.from_address ->> 'email', 320)) and s.first_message_id = m.id`,
  `delete from conversation_ref r
    using message m,
          unnest(array[m.message_id_header, m.in_reply_to] || m.reference_ids) as known (key)
    where m.organization_id = $1 and m.id = any($2::uuid[])
      and r.organization_id = $1 and r.mailbox_id = m.mailbox_id
      and r.ref_hash = substring(sha256(convert_to(known.key, 'UTF8')) for 16)
      and r.conversation_id = m.conversation_id
      and not exists (select from message other
                       where other.organization_id = $1 and other.conversation_id = m.conversation_id
                         and other.id <> all($2::uuid[]))`,
  `delete from idempotency_record where organization_id = $1 and response_id = any($2::text[])`,
];

/** Conversations that are empty except, perhaps, for ones merged into them. */
export async function selectEmpty(
  tx: SqlExecutor,
  organizationId: string,
  conversationIds: readonly string[],
): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `select c.id
       from conversation c
      where c.organization_id = $1 and c.id = any($2::uuid[]) and c.merged_into_id is null
        and not exists (select from message m where m.organization_id = $1 and m.conversation_id = c.id)
        and not exists (select from draft d where d.organization_id = $1 and d.conversation_id = c.id)`,
    [organizationId, conversationIds],
  );
  return rows.map(({ id }) => id);
}

/** Conversations without mail that were last changed before. */
export async function selectLeftOver(
  tx: SqlExecutor,
  organizationId: string,
  before: string,
  limit: number,
): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `select c.id
       from conversation c
      where c.organization_id = $1 and c.merged_into_id is null and c.message_count = 0
        and c.last_message_at < $2 and c.updated_at < $2
        and not '${LEGAL_HOLD}' = any(c.labels)
        and not exists (select from message m where m.organization_id = $1 and m.conversation_id = c.id)
        and not exists (select from draft d where d.organization_id = $1 and d.conversation_id = c.id)
      limit $3`,
    [organizationId, before, limit],
  );
  return rows.map(({ id }) => id);
}

/** Deletes empty conversations and those merged into them. @returns how many users could see */
export async function deleteConversations(
  tx: SqlExecutor,
  organizationId: string,
  ids: readonly string[],
  since: string,
): Promise<number> {
  if (ids.length === 0) return 0;
  const { rows } = await tx.query<{ id: string }>(
    `with recursive gone as (
       select id from conversation where organization_id = $1 and id = any($2::uuid[])
        union
       select c.id from gone join conversation c on c.organization_id = $1 and c.merged_into_id = gone.id)
     select id from gone`,
    [organizationId, ids],
  );
  const all = [organizationId, rows.map(({ id }) => id)];
  await tx.query(
    `insert into removed_mail (organization_id, id, conversation_id, message_id, removed_at)
     select organization_id, gen_random_uuid(), id, null, now()
       from conversation where organization_id = $1 and id = any($2::uuid[]) and updated_at >= $3`,
    [...all, since],
  );
  for (const table of ['activity', 'draft', 'rule_reply']) {
    await tx.query(
      `delete from ${table} where organization_id = $1 and conversation_id = any($2::uuid[])`,
      all,
    );
  }
  await tx.query(
    'delete from idempotency_record where organization_id = $1 and response_id = any($2::text[])',
    all,
  );
  await tx.query(
    'delete from conversation where organization_id = $1 and id = any($2::uuid[])',
    all,
  );
  return ids.length;
}

/** Merged conversations still record who took part. */
export async function blankMerged(
  tx: SqlExecutor,
  organizationId: string,
  targets: readonly string[],
): Promise<void> {
  await tx.query(
    `update conversation set participants = '[]', preview = ''
      where organization_id = $1 and merged_into_id = any($2::uuid[])`,
    [organizationId, targets],
  );
}

/** Records beside the mail that are older; rows of one statement are bounded. */
const RECORDS: readonly string[] = [
  `delete from activity
    where ctid = any(array(select x.ctid from activity x
                            where x.organization_id = $1 and x.id < $3 and x.at < $2 and ${NOT_HELD} limit $4))`,
  `delete from rule_run
    where ctid = any(array(select x.ctid from rule_run x
                            where x.organization_id = $1 and x.at < $2 and $3::uuid is not null and ${NOT_HELD} limit $4))`,
  `delete from rule_reply
    where ctid = any(array(select ctid from rule_reply
                            where organization_id = $1 and sent_at < $2 and $3::uuid is not null limit $4))`,
  `delete from rule_dry_run
    where ctid = any(array(select ctid from rule_dry_run
                            where organization_id = $1 and finished_at < $2 and $3::uuid is not null limit $4))`,
  `delete from import_job
    where ctid = any(array(select ctid from import_job
                            where organization_id = $1 and finished_at < $2 and $3::uuid is not null limit $4))`,
  `delete from inbound_spool
    where ctid = any(array(select ctid from inbound_spool
                            where organization_id = $1 and received_at < $2 and source <> 'import'
                              and $3::uuid is not null limit $4))`,
  `delete from draft
    where ctid = any(array(select x.ctid from draft x
                            where x.organization_id = $1 and x.updated_at < $2 and $3::uuid is not null
                              and ${NOT_HELD} limit $4))`,
];

/** @returns whether there is more */
export async function deleteOldRecords(
  tx: SqlExecutor,
  organizationId: string,
  before: string,
  limit: number,
): Promise<boolean> {
  let more = false;
  for (const statement of RECORDS) {
    const values = [organizationId, before, firstIdOf(Date.parse(before)), limit];
    more ||= (await tx.query(statement, values)).rowCount >= limit;
  }
  return more;
}

/** Nothing is left in it. */
export async function deleteMailbox(
  tx: SqlExecutor,
  organizationId: string,
  mailboxId: string,
): Promise<void> {
  const values = [organizationId, mailboxId];
  for (const table of ['conversation_ref', 'inbound_spool', 'conversation_tally', 'rule_run']) {
    await tx.query(`delete from ${table} where organization_id = $1 and mailbox_id = $2`, values);
  }
  await tx.query('delete from mailbox where organization_id = $1 and id = $2', values);
}

export async function selectConversationsOfMailbox(
  tx: SqlExecutor,
  organizationId: string,
  mailboxId: string,
  limit: number,
): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    'select id from conversation where organization_id = $1 and mailbox_id = $2 limit $3',
    [organizationId, mailboxId, limit],
  );
  return rows.map(({ id }) => id);
}

export interface RemovedMail {
  id: string;
  conversation_id: string;
  message_id: string | null;
  removed_at: string;
}

export async function selectRemoved(
  tx: SqlExecutor,
  organizationId: string,
  limit: number,
): Promise<RemovedMail[]> {
  const { rows } = await tx.query<RemovedMail>(
    `select id, conversation_id, message_id, removed_at
       from removed_mail where organization_id = $1 limit $2`,
    [organizationId, limit],
  );
  return rows;
}

export async function forgetRemoved(
  tx: SqlExecutor,
  organizationId: string,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  await tx.query('delete from removed_mail where organization_id = $1 and id = any($2::uuid[])', [
    organizationId,
    ids,
  ]);
}
