import { createHash } from 'node:crypto';
import type { Database, SqlExecutor } from '@dak/platform/postgres';

const names = new Map<string, string>();
const MAX_NAMES = 1000;

/**
 * Runs each query as a prepared statement in a round trip of its own, held to the tenant by
 * row-level security like everything else. For reads before a transaction that need no common snapshot:
 * one round trip instead of begin, query and commit.
 */
export function readerInTenant(database: Database, organizationId: string): SqlExecutor {
  return {
    async query<Row>(text: string, values: readonly unknown[] = []) {
      const statement = { name: nameOf(text), text, values };
      const [rows = []] = await database.batchInTenant(organizationId, [statement]);
      return { rows: rows as Row[], rowCount: rows.length };
    },
  };
}

function nameOf(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    if (names.size >= MAX_NAMES) names.clear();
    name = `read_${createHash('sha1').update(text).digest('hex').slice(0, 20)}`;
    names.set(text, name);
  }
  return name;
}
