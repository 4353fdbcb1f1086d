import { type Actor, uuidv7 } from '@dak/kernel';
import { insertOfRows, type SqlExecutor } from '@dak/platform/postgres';
import { storable } from '../db/sql-parameters';

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
