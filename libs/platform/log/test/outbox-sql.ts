import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(__dirname, '../sql');

/** What a service's migrations take over word for word, in their order. */
export function outboxFragments(): { name: string; sql: string }[] {
  return globSync('*.sql', { cwd: FOLDER })
    .sort()
    .map((name) => ({ name, sql: readFileSync(join(FOLDER, name), 'utf8') }));
}

/** All of it, for a database that has nothing else. */
export function outboxSql(): string {
  return outboxFragments()
    .map(({ sql }) => sql)
    .join('\n');
}
