import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../../..');
const COMMENTS = /^\s*--.*$/gm;

function statements(file: string): string {
  return readFileSync(file, 'utf8').replace(COMMENTS, '').trim();
}

describe('sql/outbox.sql', () => {
  const copies = globSync('apps/*/prisma/migrations/*/migration.sql', { cwd: ROOT }).filter(
    (file) => readFileSync(join(ROOT, file), 'utf8').includes('create table outbox'),
  );

  it('is used by at least one service', () => {
    expect(copies.length).toBeGreaterThan(0);
  });

  it.each(copies)('stands word for word in %s', (file) => {
    expect(statements(join(ROOT, file))).toContain(
      statements(join(ROOT, 'libs/platform/log/sql/outbox.sql')),
    );
  });
});
