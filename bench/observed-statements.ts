import { readFileSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';

/** A statement as the server ran it. */
export interface ObservedStatement {
  /** As it was prepared; `<unnamed>` for one that was not. */
  name: string;
  text: string;
  values: (string | null)[];
}

/**
 * What the server runs while `work` runs, read from its own log, so that a comparison really uses the
 * same SQL and the same parameters.
 */
export async function observeStatements(
  adminUrl: string,
  logFile: string,
  work: () => Promise<unknown>,
): Promise<ObservedStatement[]> {
  const client = new Client({ connectionString: adminUrl });
  await client.connect();
  const set = async (sql: string) => {
    await client.query(sql);
    await client.query('select pg_reload_conf()');
    await delay(300);
  };
  try {
    await set('alter system set log_min_duration_statement = 0');
    const from = statSync(logFile).size;
    await work();
    await delay(200);
    const log = readFileSync(logFile).subarray(from).toString('utf8');
    await set('alter system reset log_min_duration_statement');
    return parseStatementLog(log);
  } finally {
    await client.end();
  }
}

/** Executed prepared statements of a log with default `log_line_prefix`, in order. */
export function parseStatementLog(log: string): ObservedStatement[] {
  // A record goes on in lines that begin with a tab.
  const records = log.replace(/\n\t/g, '\n ').split(/\n(?=\d{4}-\d\d-\d\d )/);
  const statements: ObservedStatement[] = [];
  for (const record of records) {
    const executed = /LOG: {2}duration: \S+ ms {2}execute ([^:]+): ([\s\S]*)$/.exec(record);
    if (executed !== null) {
      statements.push({ name: executed[1]!, text: executed[2]!.trim(), values: [] });
    }
    const detail = /DETAIL: {2}parameters: ([\s\S]*)$/.exec(record);
    const last = statements.at(-1);
    if (detail !== null && last !== undefined && last.values.length === 0) {
      last.values = parseParameters(detail[1]!);
    }
  }
  return statements;
}

/** `$1 = 'it''s', $2 = NULL` */
function parseParameters(text: string): (string | null)[] {
  return [...text.matchAll(/\$\d+ = (?:'((?:[^']|'')*)'|NULL)/g)].map((match) =>
    match[1] === undefined ? null : match[1].replaceAll("''", "'"),
  );
}
