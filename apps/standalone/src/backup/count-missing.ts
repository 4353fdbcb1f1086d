import type pg from 'pg';

/** A column that names a blob is called `sha256`, or ends with `_sha256`, in a table with `organization_id`. */
const REFERENCES = `
  select string_agg(
           format('select organization_id, %I as sha256 from %I where %I is not null', a.attname, c.relname, a.attname),
           ' union ') as text
    from pg_attribute a
    join pg_class c on c.oid = a.attrelid and c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
   where (a.attname = 'sha256' or a.attname like '%\\_sha256') and not a.attisdropped
     and exists (select from pg_attribute o where o.attrelid = c.oid and o.attname = 'organization_id')`;

/**
 * How many blobs the rows that a transaction of the mail database sees refer to, and are not there.
 * @param present `<organization>/<aa>/<sha256>`
 */
export async function countMissing(mail: pg.Client, present: ReadonlySet<string>): Promise<number> {
  const { rows } = await mail.query<{ text: string }>(REFERENCES);
  await mail.query(`declare referred no scroll cursor for ${rows[0]!.text}`);
  let missing = 0;
  for (;;) {
    const page = await mail.query<{ organization_id: string; sha256: string }>(
      'fetch 10000 from referred',
    );
    if (page.rows.length === 0) return missing;
    for (const { organization_id: organizationId, sha256 } of page.rows) {
      if (!present.has(`${organizationId}/${sha256.slice(0, 2)}/${sha256}`)) missing += 1;
    }
  }
}
