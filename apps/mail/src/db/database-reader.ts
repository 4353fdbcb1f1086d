import { createGroupCommit, type GroupCommit } from '@dak/platform/group-commit';
import {
  statementName,
  type Database,
  type PreparedStatement,
  type SqlExecutor,
} from '@dak/platform/postgres';

type Rows = readonly Record<string, unknown>[];

/** Executors for reads that need no common snapshot, per tenant. */
export type Readers = (organizationId: string) => SqlExecutor;

const MAX_TENANTS = 1000;
/** Statements of one round trip. */
const MAX_STATEMENTS = 50;

/**
 * Reads held to their tenant by row-level security like everything else. Queries made while a round
 * trip is under way goes into the next one, as prepared statements behind one another, and the same
 * question from many callers is put once: it is asked after all of them came, so nobody gets an
 * answer that is older than the question. Rows are shared: they must not be changed.
 */
export function createReaders(database: Database): Readers {
  const tenants = new Map<string, GroupCommit<PreparedStatement, Rows>>();

  const ask = async (
    organizationId: string,
    statements: readonly PreparedStatement[],
  ): Promise<Rows[]> => {
    const distinct = new Map<string, number>();
    const asked: PreparedStatement[] = [];
    const places = statements.map((statement) => {
      const key = `${statement.text} ${JSON.stringify(statement.values)}`;
      let place = distinct.get(key);
      if (place === undefined) {
        place = asked.push(statement) - 1;
        distinct.set(key, place);
      }
      return place;
    });
    const answers = await database.batchInTenant(organizationId, asked);
    return places.map((place) => answers[place]!);
  };

  const groupOf = (organizationId: string): GroupCommit<PreparedStatement, Rows> => {
    let group = tenants.get(organizationId);
    if (group === undefined) {
      if (tenants.size >= MAX_TENANTS) tenants.clear();
      group = createGroupCommit((statements) => ask(organizationId, statements), {
        maxItems: MAX_STATEMENTS,
        concurrency: 2,
      });
      tenants.set(organizationId, group);
    }
    return group;
  };

  return (organizationId) => ({
    async query<Row>(text: string, values: readonly unknown[] = []) {
      const statement = { name: statementName(text), text, values };
      let rows: Rows;
      try {
        rows = await groupOf(organizationId).submit(statement);
      } catch {
        // Somebody else's statement may have failed the round trip: this one is asked alone.
        [rows = []] = await ask(organizationId, [statement]);
      }
      return { rows: rows as readonly unknown[] as Row[], rowCount: rows.length };
    },
  });
}
