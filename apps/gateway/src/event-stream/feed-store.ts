import type { EventKind } from '@dak/contracts/events';
import { tableColumns, type Database, type SqlExecutor } from '@dak/platform/postgres';
import type { FeedItem, PlacedItem } from './feed-item';

/**
 * Hours for which events are added to the feed after the last listener: one more than they are kept, as
 * open streams say only now and then that they still listen.
 */
const WANTED_HOURS = 49;

/** In one order, so that two writers never wait for each other. */
const LOCK_WANTED_HEADS = `
  select organization_id from event_feed_head
   where organization_id = any($1::uuid[]) and wanted_at > now() - make_interval(hours => ${WANTED_HOURS})
   order by organization_id
     for update`;

const WANT = `
  with known as (
         select organization_id, wanted_at > now() - make_interval(hours => ${WANTED_HOURS}) as is_wanted
           from event_feed_head
          where organization_id = $1)
  insert into event_feed_head as h (organization_id, wanted_at)
  values ($1, now())
      on conflict (organization_id) do update set wanted_at = now()
  returning h.position, coalesce((select is_wanted from known), false) as "isComplete"`;

/** An item's stored columns besides its position. */
interface FeedRow {
  event_id: string;
  type: EventKind;
  mailbox_id: string | null;
  department_id: string | null;
  conversation_id: string | null;
  needs_send: boolean | null;
  body: string;
}

interface PlacedRow extends FeedRow {
  organization_id: string;
  position: number;
}

const FEED = tableColumns<FeedRow>('event_feed', {
  event_id: 'fixed',
  type: 'fixed',
  mailbox_id: 'fixed',
  department_id: 'fixed',
  conversation_id: 'fixed',
  needs_send: 'fixed',
  body: 'fixed',
});

/** A separate statement, because only a snapshot taken after the lock sees other writers' rows. */
const APPEND = `
  with fresh as (
         select r.organization_id, ${FEED.list('r')},
                row_number() over (partition by r.organization_id order by r.ordinality) as rank
           from json_populate_recordset(null::event_feed, $1) with ordinality as r
          where not exists (select from event_feed f
                             where f.organization_id = r.organization_id and f.event_id = r.event_id)),
       placed as (
         insert into event_feed (organization_id, position, ${FEED.names.join(', ')})
         select n.organization_id, h.position + n.rank, ${FEED.list('n')}
           from fresh n
           join event_feed_head h on h.organization_id = n.organization_id
      returning organization_id)
  update event_feed_head h
     set position = h.position + p.count
    from (select organization_id, count(*) as count from placed group by organization_id) p
   where h.organization_id = p.organization_id`;

const READ = `
  select f.organization_id, f.position, ${FEED.list('f')}
    from event_feed f
   where f.organization_id = $1 and f.position > $2
   order by f.position
   limit $3`;

/**
 * Appends items in the given order; an item that is already present keeps its position.
 * @returns the organizations whose feeds grew: those with a listener, or one that may return
 */
export async function appendItems(
  tx: SqlExecutor,
  items: readonly FeedItem[],
): Promise<ReadonlySet<string>> {
  const organizations = [...new Set(items.map(({ organizationId }) => organizationId))];
  const { rows } = await tx.query<{ organization_id: string }>(LOCK_WANTED_HEADS, [organizations]);
  const wanted = new Set(rows.map((row) => row.organization_id));
  if (wanted.size === 0) return wanted;
  const distinct = new Map(
    items
      .filter(({ organizationId }) => wanted.has(organizationId))
      .map((item) => [item.eventId, item]),
  );
  await tx.query(APPEND, [JSON.stringify([...distinct.values()].map(toRow))]);
  return wanted;
}

/**
 * Records a listener: from now on every recorded event is added to the feed.
 * @returns the newest position, and whether the feed has had every event until now
 */
export async function wantFeed(
  database: Database,
  organizationId: string,
): Promise<{ head: number; isComplete: boolean }> {
  const [rows = []] = await database.batchInTenant(organizationId, [
    { name: 'want_event_feed', text: WANT, values: [organizationId] },
  ]);
  const [{ position, isComplete }] = rows as [{ position: number; isComplete: boolean }];
  return { head: position, isComplete };
}

/** Items of an organization after a position, in order. */
export async function readItems(
  database: Database,
  organizationId: string,
  after: number,
  limit: number,
): Promise<PlacedItem[]> {
  const [rows] = await database.batchInTenant(organizationId, [
    { name: 'read_event_feed', text: READ, values: [organizationId, after, limit] },
  ]);
  return (rows as unknown as PlacedRow[]).map(toItem);
}

function toRow(item: FeedItem): FeedRow & { organization_id: string } {
  return {
    organization_id: item.organizationId,
    event_id: item.eventId,
    type: item.type,
    mailbox_id: item.mailboxId,
    department_id: item.departmentId,
    conversation_id: item.conversationId,
    needs_send: item.needsSend,
    body: item.body,
  };
}

function toItem(row: PlacedRow): PlacedItem {
  return {
    organizationId: row.organization_id,
    position: row.position,
    eventId: row.event_id,
    type: row.type,
    mailboxId: row.mailbox_id,
    departmentId: row.department_id,
    conversationId: row.conversation_id,
    needsSend: row.needs_send,
    body: row.body,
  };
}

/** The newest position of each organization; 0 for one that had no event yet. */
export async function readHeads(
  database: Database,
  organizationIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const [rows = []] = await database.batchAsWorker([
    {
      name: 'read_event_feed_heads',
      text: `select organization_id, position from event_feed_head where organization_id = any($1::uuid[])`,
      values: [organizationIds],
    },
  ]);
  const found = new Map(
    (rows as { organization_id: string; position: number }[]).map((row) => [
      row.organization_id,
      row.position,
    ]),
  );
  return new Map(organizationIds.map((id) => [id, found.get(id) ?? 0]));
}

/** null when the event is not of this organization, or no longer kept. */
export async function findPosition(
  database: Database,
  organizationId: string,
  eventId: string,
): Promise<number | null> {
  const [rows = []] = await database.batchInTenant(organizationId, [
    {
      name: 'find_event_feed_position',
      text: `select position from event_feed where organization_id = $1 and event_id = $2`,
      values: [organizationId, eventId],
    },
  ]);
  return (rows as { position: number }[])[0]?.position ?? null;
}

/** When the oldest event that is kept was recorded, and its position; null when there is none. */
export async function findOldest(
  database: Database,
  organizationId: string,
): Promise<{ position: number; recordedAt: string } | null> {
  const [rows = []] = await database.batchInTenant(organizationId, [
    {
      name: 'find_event_feed_oldest',
      text: `select position, recorded_at as "recordedAt" from event_feed
              where organization_id = $1 order by position limit 1`,
      values: [organizationId],
    },
  ]);
  return (rows as { position: number; recordedAt: string }[])[0] ?? null;
}

/** Removes items older than `keepHours`. @returns rows removed, `limit` at most */
export async function sweepItems(
  tx: SqlExecutor,
  keepHours: number,
  limit: number,
): Promise<number> {
  const { rowCount } = await tx.query(
    `delete from event_feed
      where ctid = any(array(
            select ctid from event_feed
             where recorded_at < now() - make_interval(hours => $1)
             order by recorded_at, position limit $2))`,
    [keepHours, limit],
  );
  return rowCount;
}

/** Forgets what streams show of events before a time, and of mail that was removed. */
export async function forgetFeed(
  tx: SqlExecutor,
  organizationId: string,
  before: number | null,
  removed: readonly { conversationId: string; messageId: string | null }[],
): Promise<void> {
  if (before !== null) {
    await tx.query('delete from event_feed where organization_id = $1 and recorded_at < $2', [
      organizationId,
      new Date(before).toISOString(),
    ]);
  }
  if (removed.length === 0) return;
  await tx.query(
    `delete from event_feed f
    using unnest($2::uuid[], $3::text[]) as gone (conversation_id, message_id)
    where f.organization_id = $1 and f.conversation_id = gone.conversation_id
      and (gone.message_id is null or position(gone.message_id in f.body) > 0)`,
    [
      organizationId,
      removed.map(({ conversationId }) => conversationId),
      removed.map(({ messageId }) => messageId),
    ],
  );
}
