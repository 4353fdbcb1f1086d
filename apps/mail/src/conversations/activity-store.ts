import { type Actor, uuidv7 } from '@dak/kernel';
import { insertOfRows, type SqlExecutor } from '@dak/platform/postgres';
import { SqlParameters, storable } from '../db/sql-parameters';

/** What people may ask about later: who changed what, and why. */
export interface ActivityEntry {
  /** status_changed, assigned, labels_changed, snoozed, woken, merged, split, note_added … */
  type: string;
  before: unknown;
  after: unknown;
  reason: string | null;
}

export interface NewActivity extends ActivityEntry {
  conversationId: string;
  actor: Actor;
}

/** @param at RFC 3339 UTC */
export async function insertActivity(
  tx: SqlExecutor,
  organizationId: string,
  entries: readonly NewActivity[],
  at: string,
): Promise<void> {
  if (entries.length === 0) return;
  const rows = entries.map((entry) => ({
    organization_id: organizationId,
    id: uuidv7(),
    conversation_id: entry.conversationId,
    at,
    type: entry.type,
    before: entry.before,
    after: entry.after,
    actor_type: entry.actor.type,
    actor_id: entry.actor.id,
    actor_name: entry.actor.name,
    reason: entry.reason,
    run_id: entry.actor.runId,
  }));
  await tx.query(insertOfRows('activity', rows), [JSON.stringify(rows, storable)]);
}

export interface ActivityRow {
  id: string;
  conversation_id: string;
  at: string;
  type: string;
  before: unknown;
  after: unknown;
  actor_type: string;
  actor_id: string | null;
  actor_name: string;
  reason: string | null;
  run_id: string | null;
}

/** Newest first. */
export async function selectActivityPage(
  tx: SqlExecutor,
  organizationId: string,
  conversationId: string,
  window: { limit: number; offset: number; after: readonly unknown[] | null },
): Promise<{ rows: ActivityRow[]; total: number }> {
  const parameters = new SqlParameters();
  const where = `a.organization_id = ${parameters.add(organizationId)}
             and a.conversation_id = ${parameters.add(conversationId)}`;
  const { rows: counts } = await tx.query<{ total: number }>(
    `select count(*) as total from activity a where ${where}`,
    parameters.values,
  );
  const after =
    window.after === null
      ? ''
      : `and (a.at, a.id) < (${parameters.add(window.after[0])}::timestamptz, ${parameters.add(window.after[1])}::uuid)`;
  const { rows } = await tx.query<ActivityRow>(
    `select a.id, a.conversation_id, a.at, a.type, a.before, a.after, a.actor_type, a.actor_id, a.actor_name,
            a.reason, a.run_id
       from activity a
      where ${where} ${after}
      order by a.at desc, a.id desc
      limit ${parameters.add(window.limit)} offset ${parameters.add(window.offset)}`,
    parameters.values,
  );
  return { rows, total: counts[0]?.total ?? 0 };
}
