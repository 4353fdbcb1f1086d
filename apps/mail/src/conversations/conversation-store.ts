import type { Database, SqlExecutor } from '@dak/platform/postgres';
import { storable } from '../db/sql-parameters';
import type { MessageFacts } from './conversation-aggregates';
import { CONVERSATION, CONVERSATION_COLUMNS, type ConversationRow } from './conversation-row';

/** A conversation with the address of its mailbox, which distinguishes our side from the other. */
export interface LockedConversation extends ConversationRow {
  mailbox_address: string;
}

/**
 * Takes `count` numbers in a separate short transaction, so that the organization's row is never
 * locked for the length of a batch; numbers that are not used leave gaps. It is not flushed: whatever
 * is stored under a number is committed later and brings it to disk too.
 */
export async function allocateConversationNumbers(
  database: Database,
  organizationId: string,
  count: number,
): Promise<number[]> {
  const [, rows] = await database.batchInTenant(organizationId, [
    {
      name: 'conversation_numbers_async',
      text: `select set_config('synchronous_commit', 'off', true)`,
      values: [],
    },
    {
      name: 'conversation_numbers',
      text: `insert into organization as o (organization_id, name, last_number, updated_at)
             values ($1, '', $2, now())
                 on conflict (organization_id) do update set last_number = o.last_number + excluded.last_number
          returning last_number`,
      values: [organizationId, count],
    },
  ]);
  const last = Number(rows![0]!['last_number']);
  return Array.from({ length: count }, (_, index) => last - count + 1 + index);
}

/** Locks in order of id, so that two batches never wait for each other. */
export async function lockConversations(
  tx: SqlExecutor,
  organizationId: string,
  ids: readonly string[],
): Promise<LockedConversation[]> {
  if (ids.length === 0) return [];
  const { rows } = await tx.query<LockedConversation>(
    `select ${CONVERSATION_COLUMNS}, m.address as mailbox_address
       from conversation c
       join mailbox m on m.organization_id = c.organization_id and m.id = c.mailbox_id
      where c.organization_id = $1 and c.id = any($2::uuid[])
      order by c.id
        for update of c`,
    [organizationId, ids],
  );
  return rows;
}

export async function insertConversations(
  tx: SqlExecutor,
  organizationId: string,
  rows: readonly ConversationRow[],
): Promise<void> {
  if (rows.length === 0) return;
  await tx.query(CONVERSATION.insert, [toJson(organizationId, rows)]);
}

export async function updateConversations(
  tx: SqlExecutor,
  organizationId: string,
  rows: readonly ConversationRow[],
): Promise<void> {
  if (rows.length === 0) return;
  await tx.query(
    `update conversation c
        set ${CONVERSATION.assignments('r')}
       from json_populate_recordset(null::conversation, $2) r
      where c.organization_id = $1 and c.id = r.id`,
    [organizationId, toJson(organizationId, rows)],
  );
}

/** The facts from which these conversations' totals are computed; unordered. */
export async function selectMessageFacts(
  tx: SqlExecutor,
  organizationId: string,
  conversationIds: readonly string[],
): Promise<(MessageFacts & { conversation_id: string })[]> {
  if (conversationIds.length === 0) return [];
  const { rows } = await tx.query<MessageFacts & { conversation_id: string }>(
    `select m.conversation_id, m.id, m.sort_at, m.direction, m.status,
            coalesce((m.flags ->> 'auto_generated')::boolean, false)
              or coalesce(m.kind in ('auto_reply', 'dsn', 'arf', 'mdn'), false) as is_automatic,
            coalesce((m.flags ->> 'bounce')::boolean, false) as is_bounce,
            coalesce(m.safety @? '$.signals[*].kind ? (@ like_regex "injection")', false) as has_injection_signals,
            m.from_address as "from", m.to_addresses as "to", m.cc_addresses as cc,
            m.preview, m.unread, m.attachment_count, m.size_bytes
       from message m
      where m.organization_id = $1 and m.conversation_id = any($2::uuid[])`,
    [organizationId, conversationIds],
  );
  return rows;
}

function toJson(organizationId: string, rows: readonly ConversationRow[]): string {
  return JSON.stringify(
    rows.map((row) => ({ ...row, organization_id: organizationId })),
    storable,
  );
}
