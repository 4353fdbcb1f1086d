import type { Client } from 'pg';
import { SERVICES } from '@dak/platform/config';
import type { ApiReply } from '@dak/testing/api-client';
import type { PlainRequest } from '../routes/plain-requests';
import type { Stack } from '../stack/stack';
import { withDatabase } from '../stack/stack-databases';

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** Replies that somebody got, to be searched for what was not theirs to see. */
export class ForeignData {
  readonly #seen: { label: string; asked: string; said: string }[] = [];

  /** @param marker of the texts that must not appear */
  constructor(private readonly marker: string) {}

  note(label: string, request: PlainRequest, reply: ApiReply): void {
    this.#seen.push({
      label,
      asked: textOf(request),
      said: `${JSON.stringify([...reply.headers])}${JSON.stringify(reply.body ?? null)}`,
    });
  }

  /**
   * What was said that belongs to others, and that the caller had not said themselves.
   * @param known what it is the caller's business to know
   */
  leaks(foreignIds: ReadonlySet<string>, known: readonly string[] = []): string[] {
    const marked = new RegExp(`${this.marker}[\\w@.-]*`, 'g');
    return this.#seen.flatMap(({ label, asked, said }) => {
      const texts = said.match(marked) ?? [];
      const ids = (said.match(UUID) ?? []).filter((id) => foreignIds.has(id));
      return [...texts, ...ids]
        .filter((found) => !asked.includes(found) && !known.includes(found))
        .map((found) => `${label}: ${found} in ${said.slice(0, 300)}`);
    });
  }
}

/** All that a request says, as text. */
export function textOf(request: PlainRequest): string {
  const { body } = request;
  if (body instanceof Uint8Array) return `${jsonOf(request)}${Buffer.from(body).toString()}`;
  if (!(body instanceof FormData)) return jsonOf(request);
  const parts = [...body].map(([name, value]) => [
    name,
    typeof value === 'string' ? value : value.name,
  ]);
  return jsonOf(request) + JSON.stringify(parts);
}

/** The request without a body of bytes or a form. */
function jsonOf(request: PlainRequest): string {
  const { body } = request;
  const isJson = !(body instanceof FormData) && !(body instanceof Uint8Array);
  return JSON.stringify({ ...request, body: isJson ? body : null });
}

export function idsIn(text: string): string[] {
  return [...new Set(text.match(UUID) ?? [])];
}

/** A copy in which texts of the JSON body, path and query are replaced; forms and bytes stay. */
export function rewritten(
  request: PlainRequest,
  replacements: ReadonlyMap<string, string>,
): PlainRequest {
  let text = jsonOf(request);
  for (const [from, to] of replacements) text = text.replaceAll(from, to);
  const copy = JSON.parse(text) as PlainRequest;
  return { ...copy, body: copy.body ?? request.body };
}

/**
 * The ids in every row of an organization, or of one of its mailboxes, in all databases: tables and
 * columns are taken from the catalog.
 */
export async function idsOf(
  stack: Stack,
  organizationId: string,
  mailboxId: string | null = null,
): Promise<Set<string>> {
  const ids = new Set<string>();
  for (const name of SERVICES) {
    const { adminUrl } = stack.databases[name];
    await withDatabase(adminUrl, async (database) => {
      const tables = await columnsByTable(database);
      for (const [table, columns] of tables) {
        if (!columns.has('organization_id') || !columns.has('id')) continue;
        if (columns.get('id') !== 'uuid') continue;
        if (mailboxId !== null && !columns.has('mailbox_id')) continue;
        const { rows } = await database.query<{ id: string }>(
          `select id from ${table} where organization_id = $1 ${mailboxId === null ? '' : 'and mailbox_id = $2'}`,
          mailboxId === null ? [organizationId] : [organizationId, mailboxId],
        );
        for (const { id } of rows) ids.add(id);
      }
    });
  }
  return ids;
}

/** Every table of the schema `public`, partitions apart, with the types of its columns. */
export async function columnsByTable(database: Client): Promise<Map<string, Map<string, string>>> {
  const { rows } = await database.query<{ table: string; column: string; type: string }>(`
    select c.relname as "table", a.attname as "column", format_type(a.atttypid, null) as type
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'public'
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relkind in ('r', 'p')
       and not c.relispartition
       and c.relname <> '_prisma_migrations'
     order by 1, 2`);
  const tables = new Map<string, Map<string, string>>();
  for (const { table, column, type } of rows) {
    const columns = tables.get(table) ?? new Map<string, string>();
    tables.set(table, columns.set(column, type));
  }
  return tables;
}
