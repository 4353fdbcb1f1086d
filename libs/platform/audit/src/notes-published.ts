import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '@dak/platform/postgres';

const TOPIC = 'audit.events.v1';
const PATIENCE_MS = 2_500;
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 100;

/**
 * Resolves when the notes committed before the call have left the outbox for the log, at the latest
 * after 2.5 seconds, so that a caller who reads the audit log finds their own latest change.
 */
export async function notesPublished(database: Database): Promise<void> {
  const until = Date.now() + PATIENCE_MS;
  const last = await lastNote(database, null);
  if (last === null) return;
  for (let pause = FIRST_PAUSE_MS; Date.now() < until; pause *= 2) {
    await delay(Math.min(pause, LONGEST_PAUSE_MS));
    if ((await lastNote(database, last)) === null) return;
  }
}

/** Position of the newest note in the outbox, not beyond `upTo`; null when there is none. */
async function lastNote(database: Database, upTo: string | null): Promise<string | null> {
  const { rows } = await database.asWorker((tx) =>
    tx.query<{ last: string | null }>(
      `select max(seq)::text as last from outbox where topic = $1 and ($2::bigint is null or seq <= $2::bigint)`,
      [TOPIC, upTo],
    ),
  );
  return rows[0]?.last ?? null;
}
