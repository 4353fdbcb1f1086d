import type { ForgottenMail } from '@dak/contracts/tenant';
import type { SqlExecutor } from '@dak/platform/postgres';

/** Deletes the bodies of events before a time, with their deliveries and attempts. @returns events deleted */
export async function forgetBefore(
  tx: SqlExecutor,
  organizationId: string,
  before: string,
  limit: number,
): Promise<number> {
  const { rows } = await tx.query<{ event_id: string }>(
    `select event_id from message where organization_id = $1 and occurred_at < $2 limit $3`,
    [organizationId, before, limit],
  );
  return deleteEvents(
    tx,
    organizationId,
    rows.map((row) => row.event_id),
  );
}

/** Deletes the bodies of events about deleted mail. @returns events deleted */
export async function forgetRemoved(
  tx: SqlExecutor,
  organizationId: string,
  removed: readonly ForgottenMail[],
): Promise<number> {
  if (removed.length === 0) return 0;
  const { rows } = await tx.query<{ event_id: string }>(
    `select distinct m.event_id
       from message m
       join unnest($2::uuid[], $3::text[]) as gone (conversation_id, message_id)
         on gone.conversation_id = m.conversation_id
      where m.organization_id = $1
        and (gone.message_id is null or position(convert_to(gone.message_id, 'UTF8') in m.body) > 0)`,
    [
      organizationId,
      removed.map(({ conversationId }) => conversationId),
      removed.map(({ messageId }) => messageId ?? null),
    ],
  );
  return deleteEvents(
    tx,
    organizationId,
    rows.map((row) => row.event_id),
  );
}

async function deleteEvents(
  tx: SqlExecutor,
  organizationId: string,
  eventIds: readonly string[],
): Promise<number> {
  if (eventIds.length === 0) return 0;
  const values = [organizationId, eventIds];
  await tx.query(
    `delete from attempt a
      using delivery d
      where d.organization_id = $1 and d.event_id = any($2::text[])
        and a.endpoint_id = d.endpoint_id and a.delivery_id = d.id`,
    values,
  );
  await tx.query(
    'delete from delivery where organization_id = $1 and event_id = any($2::text[])',
    values,
  );
  const { rowCount } = await tx.query(
    'delete from message where organization_id = $1 and event_id = any($2::text[])',
    values,
  );
  return rowCount;
}
