import type { SqlExecutor } from '@dak/platform/postgres';
import { storableText } from '../../db/sql-parameters';

/** A stored message that a new one may be a copy of. */
export interface KnownMessage {
  mailbox_id: string;
  message_id_header: string | null;
  /** Hexadecimal. */
  dedupe_key: string | null;
  direction: string;
  author: string | null;
}

/** Stored messages of these mailboxes with one of the dedupe keys or, sent by us, with one of the Message-IDs. */
export async function selectKnownMessages(
  tx: SqlExecutor,
  organizationId: string,
  mailboxIds: readonly string[],
  dedupeKeys: readonly string[],
  messageIds: readonly string[],
): Promise<KnownMessage[]> {
  const { rows } = await tx.query<KnownMessage>(
    `select mailbox_id, message_id_header, encode(dedupe_key, 'hex') as dedupe_key, direction, null as author
       from message
      where organization_id = $1 and mailbox_id = any($2::uuid[])
        and dedupe_key = any(array(select decode(key, 'hex') from unnest($3::text[]) key))
      union all
     select mailbox_id, message_id_header, null, direction, from_address ->> 'email'
       from message
      where organization_id = $1 and mailbox_id = any($2::uuid[]) and message_id_header = any($4)
        and direction = 'outbound'`,
    [organizationId, mailboxIds, dedupeKeys, messageIds.map(storableText)],
  );
  return rows;
}

/** Addresses of the mailboxes that are still there. */
export async function selectMailboxAddresses(
  tx: SqlExecutor,
  organizationId: string,
  mailboxIds: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await tx.query<{ id: string; address: string }>(
    'select id, address from mailbox where organization_id = $1 and id = any($2::uuid[])',
    [organizationId, mailboxIds],
  );
  return new Map(rows.map((row) => [row.id, row.address]));
}
