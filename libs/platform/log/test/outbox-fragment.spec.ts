import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { outboxFragments } from './outbox-sql';

const ROOT = join(__dirname, '../../../..');
const COMMENTS = /^\s*--.*$/gm;

const statements = (sql: string): string => sql.replace(COMMENTS, '').trim();

/** The migrations of each service that has an outbox, together. */
const services = [
  ...Map.groupBy(
    globSync('apps/*/prisma/migrations/*/migration.sql', { cwd: ROOT }).sort(),
    (file) => file.split('/')[1]!,
  ),
]
  .map(([service, files]): [string, string] => [
    service,
    files.map((file) => statements(readFileSync(join(ROOT, file), 'utf8'))).join('\n'),
  ])
  .filter(([, sql]) => sql.includes('create table outbox'));

describe('the SQL of the outbox', () => {
  it('is used by at least one service', () => {
    expect(services.length).toBeGreaterThan(0);
  });

  it.each(services)(
    'stands word for word and in order in the migrations of %s',
    (_, migrations) => {
      let from = 0;
      for (const { name, sql } of outboxFragments()) {
        const at = migrations.indexOf(statements(sql), from);
        expect({ name, found: at >= 0 }).toEqual({ name, found: true });
        from = at;
      }
    },
  );
});
