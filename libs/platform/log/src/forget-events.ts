import type { Pool } from 'pg';

/** What of an organization's events nobody may read any more. */
export interface ForgetRequest {
  organizationId: string;
  /** Milliseconds since the epoch: all that were published before; null = none for their age. */
  before: number | null;
  /** All of a key, or those that have the text in them, if every group has read them. */
  about: readonly { key: string; text: string | null }[];
}

/** Where records lie; the organization is in the envelope, which SQL sees as bytes. */
const TABLES = ['event_log', 'parked_message'] as const;

const BY_AGE = (table: string) => `
  delete from ${table}
   where published_at < to_timestamp($2::float8 / 1000)
     and position(convert_to($1::text, 'UTF8') in payload) > 0`;

const BY_KEY: Readonly<Record<(typeof TABLES)[number], string>> = {
  event_log: `
  delete from event_log e
   using unnest($2::text[], $3::text[]) as gone (key, text)
   where e.key = gone.key
     and position(convert_to($1::text, 'UTF8') in e.payload) > 0
     and (gone.text is null or position(convert_to(gone.text, 'UTF8') in e.payload) > 0)
     and not exists (select from consumer_offset o
                      where o.topic = e.topic and o.part = e.part and o.off <= e.off)`,
  parked_message: `
  delete from parked_message e
   using unnest($2::text[], $3::text[]) as gone (key, text)
   where e.key = gone.key
     and position(convert_to($1::text, 'UTF8') in e.payload) > 0
     and (gone.text is null or position(convert_to(gone.text, 'UTF8') in e.payload) > 0)`,
};

/** Of which nothing is parked any more. */
const FREE_KEYS = `
  delete from parked_key k
   where not exists (select from parked_message m
                      where (m.group_name, m.topic, m.key) = (k.group_name, k.topic, k.key))
     and k.parked_at < now() - interval '1 minute'`;

/**
 * Deletes events of an organization from the log in PostgreSQL, and those that wait with parked keys.
 * It reads the whole log: not often. @returns how many were deleted
 */
export async function forgetEvents(
  pool: Pool,
  { organizationId, before, about }: ForgetRequest,
): Promise<number> {
  let forgotten = 0;
  for (const table of TABLES) {
    if (before !== null) {
      const { rowCount } = await pool.query(BY_AGE(table), [organizationId, before]);
      forgotten += rowCount ?? 0;
    }
    if (about.length > 0) {
      const { rowCount } = await pool.query(BY_KEY[table], [
        organizationId,
        about.map(({ key }) => key),
        about.map(({ text }) => text),
      ]);
      forgotten += rowCount ?? 0;
    }
  }
  await pool.query(FREE_KEYS);
  return forgotten;
}
