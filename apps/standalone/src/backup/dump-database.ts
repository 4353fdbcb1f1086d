import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import type { BackupFile, DatabaseContent } from './manifest';
import { storeFile } from './stored-file';

interface TableRow {
  name: string;
  is_partitioned: boolean;
  columns: string[];
}

/** Generated columns are made again from the others. */
const TABLES = `
  select c.relname as name, c.relkind = 'p' as is_partitioned,
         array(select a.attname::text
                 from pg_attribute a
                where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
                order by a.attnum) as columns
    from pg_class c
   where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
     and c.relname <> '_prisma_migrations'
   order by c.relname`;

const PARTITIONS = `
  select parent.relname as table, child.relname as name, pg_get_expr(child.relpartbound, child.oid) as bound
    from pg_inherits i
    join pg_class child  on child.oid = i.inhrelid
    join pg_class parent on parent.oid = i.inhparent and parent.relkind = 'p'
   where parent.relnamespace = 'public'::regnamespace
   order by child.relname`;

/** They are beside transactions and so may be ahead of the moment, which only leaves numbers out. */
const SEQUENCES = `
  select sequencename as name, last_value::text as last_value
    from pg_sequences
   where schemaname = 'public' and last_value is not null
   order by sequencename`;

const MIGRATIONS = `
  select migration_name as name, checksum
    from _prisma_migrations
   where finished_at is not null
   order by migration_name`;

/**
 * Writes all rows that the client's transaction sees, as PostgreSQL's text that every version reads: one file for each
 * table below `databases/<name>`. The tables themselves come from the migrations.
 */
export async function dumpDatabase(
  client: pg.Client,
  name: string,
  folder: string,
  progress: (bytes: number) => void,
): Promise<{ content: DatabaseContent; files: BackupFile[] }> {
  const rows = async <Row extends object>(text: string): Promise<Row[]> =>
    (await client.query<Row>(text)).rows;
  const content: DatabaseContent = {
    migrations: await rows(MIGRATIONS),
    tables: [],
    partitions: await rows(PARTITIONS),
    sequences: await rows(SEQUENCES),
  };
  const files: BackupFile[] = [];
  for (const table of await rows<TableRow>(TABLES)) {
    const copy = client.query(copyTo(copyOut(client, table)));
    const file = await storeFile(folder, `databases/${name}/${table.name}.copy`, copy);
    files.push(file);
    content.tables.push({
      name: table.name,
      columns: table.columns,
      rows: copy.rowCount,
      file: file.path,
    });
    progress(file.bytes);
  }
  return { content, files };
}

/** A table of partitions can only be asked for its rows. */
function copyOut(client: pg.Client, { name, columns, is_partitioned }: TableRow): string {
  const listed = columns.map((column) => client.escapeIdentifier(column)).join(', ');
  const table = client.escapeIdentifier(name);
  return is_partitioned
    ? `copy (select ${listed} from ${table}) to stdout`
    : `copy ${table} (${listed}) to stdout`;
}
