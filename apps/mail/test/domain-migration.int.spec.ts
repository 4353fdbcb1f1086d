import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { systemClock, uuidv7 } from '@dak/kernel';
import { applyMigrations } from '@dak/platform/migrations';
import { Database } from '@dak/platform/postgres';
import { createTestDatabase } from '@dak/testing/database';
import { putDomains } from '../src/domains/put-domains';
import { createAddressDirectory } from '../src/mailboxes/addresses/address-directory';
import { MIGRATIONS_FOLDER } from './mail-fixtures';

const FIRST = '20261123000001_domains';

it('gives a domain to the one organization that uses it, and one of several to none', async () => {
  const before = mkdtempSync(join(tmpdir(), 'dak-migrations-'));
  for (const name of readdirSync(MIGRATIONS_FOLDER)) {
    if (name < FIRST)
      cpSync(join(MIGRATIONS_FOLDER, name), join(before, name), { recursive: true });
  }
  const test = await createTestDatabase({ name: 'mail', migrationsFolder: before });
  const owner = new Client({ connectionString: test.adminUrl });
  await owner.connect();
  const [one, two] = [uuidv7(), uuidv7()];
  const rows = [
    [one, 'a@own.example', null],
    [one, 'b@own.example', null],
    [one, 'a@shared.example', null],
    [two, 'b@shared.example', null],
    [two, 'x@deleted.example', new Date()],
    [one, 'x@left.example', new Date()],
    [two, 'y@left.example', null],
  ];
  for (const [organizationId, address, deletedAt] of rows) {
    await owner.query(
      `insert into mailbox (organization_id, id, address, settings, created_at, updated_at, deleted_at)
       values ($1, $2, $3, '{}', now(), now(), $4)`,
      [organizationId, uuidv7(), address, deletedAt],
    );
  }
  await applyMigrations({
    adminUrl: test.adminUrl,
    database: test.database,
    role: test.role,
    folder: MIGRATIONS_FOLDER,
  });
  const { rows: domains } = await owner.query(
    `select organization_id, name, status, is_contested, length(token) as length from domain order by name, organization_id`,
  );
  const shared = { name: 'shared.example', status: 'pending', is_contested: true, length: 64 };
  const verified = { status: 'verified', is_contested: false, length: 64 };
  expect(domains).toEqual([
    { organization_id: two, name: 'left.example', ...verified },
    { organization_id: one, name: 'own.example', ...verified },
    { organization_id: one, ...shared },
    { organization_id: two, ...shared },
  ]);
  const { rows: named } = await owner.query(
    `select m.address from mailbox m join domain d on d.id = m.domain_id order by 1`,
  );
  expect(named.map(({ address }) => address)).toEqual([
    'a@own.example',
    'b@own.example',
    'y@left.example',
  ]);

  const database = new Database({ url: test.url, applicationName: 'mail-test' });
  const directory = createAddressDirectory(database);
  const kindOf = async (address: string) => (await directory.resolve(address)).kind;
  expect(await kindOf('a@own.example')).toBe('deliver');
  expect(await kindOf('c@own.example')).toBe('unknown');
  // Mail waits with its sender until a superadmin settles whose the domain is.
  expect(await kindOf('a@shared.example')).toBe('deferred');
  expect(await kindOf('nobody@shared.example')).toBe('deferred');
  const request = { userId: uuidv7(), userName: 'S', requestId: 'test', isClaim: false };
  await putDomains(
    { database, clock: systemClock },
    { ...request, organizationId: one, names: ['own.example', 'shared.example'] },
  );
  expect(await kindOf('a@shared.example')).toBe('deliver');
  expect(await kindOf('b@shared.example')).toBe('unknown');
  await database.close();
  await owner.end();
  await test.drop();
  rmSync(before, { recursive: true });
}, 60_000);
