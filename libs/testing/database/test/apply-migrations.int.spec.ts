import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyMigrations } from '@dak/platform/migrations';
import { createTestDatabase } from '../src/index';

const migrationsFolder = join(__dirname, 'migrations');

describe('applyMigrations', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dak-migrations-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('applies once, refuses an edited migration and a newer database', async () => {
    cpSync(migrationsFolder, folder, { recursive: true });
    const test = await createTestDatabase({ name: 'migrated', migrationsFolder: folder });
    const target = {
      adminUrl: test.adminUrl,
      database: test.database,
      role: 'dak_migrated',
      folder,
    };
    expect((await applyMigrations(target)).applied).toEqual([]);

    mkdirSync(join(folder, '20260102000000_two'));
    writeFileSync(
      join(folder, '20260102000000_two', 'migration.sql'),
      'create table two (id int);',
    );
    const both = await Promise.all([applyMigrations(target), applyMigrations(target)]);
    expect(both.flatMap((report) => report.applied)).toEqual(['20260102000000_two']);

    writeFileSync(
      join(folder, '20260102000000_two', 'migration.sql'),
      'create table three (id int);',
    );
    await expect(applyMigrations(target)).rejects.toMatchObject({ code: 'edited_migration' });
    rmSync(join(folder, '20260102000000_two'), { recursive: true });
    await expect(applyMigrations(target)).rejects.toMatchObject({ code: 'newer_database' });
    await test.drop();
  });
});
