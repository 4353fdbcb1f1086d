import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { uuidv7 } from '@dak/kernel';
import { createTestDatabase, type TestDatabase } from '@dak/testing/database';
import { SENT_SINCE } from '../src/backup/manifest';
import { restoreAcceptances, storeSentSince } from '../src/backup/sent-since';

const MOMENT = Date.now();
const ORGANIZATION = uuidv7();

describe('what a backup notes of mail that left after its moment', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dak-sent-since-'));
  let database: TestDatabase;
  let client: pg.Client;
  beforeAll(async () => {
    database = await createTestDatabase({
      name: 'mail',
      migrationsFolder: join(__dirname, '../../mail/prisma/migrations'),
    });
    client = new pg.Client({ connectionString: database.adminUrl });
    await client.connect();
    // The rows that a delivery belongs to are no matter here.
    await client.query(`set session_replication_role = replica`);
  });
  afterAll(async () => {
    await client.end();
    await database.drop();
    rmSync(folder, { recursive: true });
  });

  const delivery = async (row: { state: string; transport: string; at: number }) => {
    const id = uuidv7();
    await client.query(
      `insert into delivery (organization_id, id, submission_id, recipient, role, position, state, transport, lease_epoch,
                             priority, created_at, updated_at)
       values ($1, $2, $1, 'someone@elsewhere.example', 'to', 0, $3, $4, 1, 0, $5, $5)`,
      [ORGANIZATION, id, row.state, row.transport, new Date(row.at)],
    );
    return id;
  };
  const entry = (deliveryId: string, epoch: number) => ({
    ...{ organizationId: ORGANIZATION, deliveryId, epoch, transport: 'relay' },
    ...{ smtpCode: 250, enhanced: null, text: 'OK' },
  });

  it('are the acceptances of next hops, also those that were committed at the moment under an earlier time', async () => {
    const after = await delivery({ state: 'sent', transport: 'direct', at: MOMENT + 5_000 });
    const within = await delivery({ state: 'sent', transport: 'relay', at: MOMENT - 2_000 });
    await delivery({ state: 'sent', transport: 'local', at: MOMENT + 5_000 });
    await delivery({ state: 'sending', transport: 'relay', at: MOMENT + 5_000 });
    await delivery({ state: 'sent', transport: 'relay', at: MOMENT - 86_400_000 });

    await storeSentSince(database.adminUrl, new Date(MOMENT).toISOString(), folder);
    const ids = readFileSync(join(folder, SENT_SINCE), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { deliveryId: string }).deliveryId);
    expect(ids.sort()).toEqual([after, within].sort());
  });

  it('and of the journals of all processes are in the one that every run reads, though a line was torn', async () => {
    const ids = await Promise.all(
      ['queued', 'sending', 'queued', 'canceled'].map((state) =>
        delivery({ state, transport: 'relay', at: MOMENT }),
      ),
    );
    const lines = ids.map((id, i) => JSON.stringify(entry(id, 7 + i)));
    const [first, second, third, fourth] = lines;
    const dataDir = join(folder, 'restored');
    const files = {
      'data/journal/deliveries.journal': `"text":"OK"}\n${first}\n${second!.slice(0, 40)}`,
      'data/journal-2/deliveries.journal': `${second}\n`,
      [SENT_SINCE]: `${third}\n${fourth}\n`,
    };
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    await restoreAcceptances(client, folder, Object.keys(files).slice(0, 2), dataDir);
    const found = readFileSync(join(dataDir, 'journal/deliveries.journal'), 'utf8');
    expect(found.split('\n')).toEqual([...lines, '']);
    const { rows } = await client.query(
      `select state, lease_epoch as epoch from delivery where id = any($1) order by array_position($1, id)`,
      [ids],
    );
    expect(rows).toEqual([
      { state: 'uncertain', epoch: 7 },
      { state: 'uncertain', epoch: 8 },
      { state: 'uncertain', epoch: 9 },
      { state: 'canceled', epoch: 1 },
    ]);
  });
});
