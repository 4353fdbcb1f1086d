import type { SqlExecutor } from '@dak/platform/postgres';

const SAVE = `
  insert into operations as o (outgoing, version)
  values ($1, $2)
  on conflict (id)
  do update set outgoing = excluded.outgoing, version = excluded.version, updated_at = now()
          where o.version < excluded.version`;

/** What of the whole deployment is stopped; an older announcement than the known one changes nothing. */
export async function saveOperations(
  worker: SqlExecutor,
  { outgoing, version }: { outgoing: string; version: number },
): Promise<void> {
  await worker.query(SAVE, [outgoing, version]);
}
