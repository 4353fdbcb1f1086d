import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../../..');

export const FRAGMENT = readFileSync(join(__dirname, '../sql/1-tenant-directory.sql'), 'utf8');

/** Folders of migrations: of every service that keeps a tenant directory. */
export function directoryMigrations(): [service: string, folder: string][] {
  return globSync('apps/*/prisma/migrations', { cwd: ROOT })
    .map((folder): [string, string] => [folder.split('/')[1]!, join(ROOT, folder)])
    .filter(([, folder]) =>
      globSync('*/migration.sql', { cwd: folder }).some((file) =>
        readFileSync(join(folder, file), 'utf8').includes('create table erased_organization'),
      ),
    );
}

/** A service with the fragment and its own switch. */
export function fragmentMigrations(): { folder: string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'dak-directory-'));
  mkdirSync(join(folder, '20260101000000_fragment'));
  writeFileSync(
    join(folder, '20260101000000_fragment', 'migration.sql'),
    `${FRAGMENT}
     create table operations (
       id         boolean primary key default true check (id),
       webhooks   text not null default 'run',
       version    bigint not null default 0,
       updated_at timestamptz not null default now());
     alter table operations enable row level security;
     create policy worker on operations using (dak_is_worker());`,
  );
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
