import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { DatabaseContent } from './manifest';

const TABLES = `
  select relname as name
    from pg_class
   where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
     and relname <> '_prisma_migrations'`;

const SECURED = `
  select relname as name
    from pg_class
   where relnamespace = 'public'::regnamespace and relkind = 'p' and relrowsecurity`;

const FOREIGN_KEYS = `
  select conrelid::regclass::text as table, quote_ident(conname) as name, pg_get_constraintdef(oid) as definition
    from pg_constraint
   where contype = 'f' and conparentid = 0 and connamespace = 'public'::regnamespace`;

/** Releases all leases: their holders are gone, and their work can be taken over at once. */
const LEASES = `
  select c.relname as name
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'lease_until' and not a.attisdropped
   where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`;

/**
 * Fills the tables of a database, as its migrations have made them, with the rows of a backup, in one transaction. For
 * that time there are no triggers and no foreign keys: everything that they would do has been done.
 */
export async function loadDatabase(
  client: pg.Client,
  content: DatabaseContent,
  folder: string,
  progress: (bytes: number) => void,
): Promise<void> {
  const quoted = (name: string): string => client.escapeIdentifier(name);
  const names = async (text: string): Promise<string[]> =>
    (await client.query<{ name: string }>(text)).rows.map(({ name }) => quoted(name));
  await client.query('begin');
  const tables = await names(TABLES);
  const secured = new Set(await names(SECURED));
  const { rows: foreignKeys } = await client.query<{
    table: string;
    name: string;
    definition: string;
  }>(FOREIGN_KEYS);
  for (const key of foreignKeys) {
    await client.query(`alter table ${key.table} drop constraint ${key.name}`);
  }
  for (const table of tables) await client.query(`alter table ${table} disable trigger user`);
  await client.query(`truncate ${tables.join(', ')}`);
  for (const { table, name, bound } of content.partitions) {
    await client.query(
      `create table if not exists ${quoted(name)} partition of ${quoted(table)} ${bound}`,
    );
    if (secured.has(quoted(table))) {
      // As those have it that Dak makes every day: the policies of the table do not hold for a partition by itself.
      await client.query(`alter table ${quoted(name)} enable row level security`);
    }
  }
  for (const { name, columns, rows, file } of content.tables) {
    const copy = client.query(
      copyFrom(`copy ${quoted(name)} (${columns.map(quoted).join(', ')}) from stdin`),
    );
    const source = createReadStream(join(folder, file), { highWaterMark: 256 * 1024 });
    await pipeline(source, copy);
    if (copy.rowCount !== rows) {
      throw new Error(`${file} has ${copy.rowCount} rows instead of ${rows}.`);
    }
    progress(source.bytesRead);
  }
  for (const { name, last_value } of content.sequences) {
    await client.query('select setval($1::regclass, $2::bigint)', [quoted(name), last_value]);
  }
  for (const table of await names(LEASES)) {
    await client.query(`update ${table} set lease_until = now() where lease_until > now()`);
  }
  for (const table of tables) await client.query(`alter table ${table} enable trigger user`);
  for (const key of foreignKeys) {
    await client.query(`alter table ${key.table} add constraint ${key.name} ${key.definition}`);
  }
  await client.query('commit');
  await client.query('analyze');
}
