import { uuidv7 } from '@dak/kernel';
import { applyMigrations } from '@dak/platform/migrations';
import { Database } from '@dak/platform/postgres';
import { startRestartablePostgres, type RestartablePostgres } from '@dak/testing/crash';
import { eventually } from '@dak/testing/waiting';
import { readMessage } from '../src/receiving/reading/read-message';
import { spoolEntry } from '../src/spool/spool-entry';
import { openInbound, rawMessage, storedMessages } from './inbound-fixtures';
import { insertMailbox, MIGRATIONS_FOLDER } from './mail-fixtures';

let postgres: RestartablePostgres;
beforeAll(async () => {
  postgres = await startRestartablePostgres();
}, 60_000);
afterAll(() => postgres?.stop());

test('mail that was claimed when the database went away is there soon after its return', async () => {
  const { url } = await applyMigrations({
    adminUrl: postgres.adminUrl,
    database: 'dak_mail',
    role: 'dak_mail',
    folder: MIGRATIONS_FOLDER,
  });
  const database = new Database({ url, applicationName: 'outage' });
  const organizationId = uuidv7();
  const { id: mailboxId, address } = await insertMailbox(database, organizationId);
  let goOn: () => void = () => undefined;
  const isOver = new Promise<void>((resolve) => (goOn = resolve));
  let isReading: () => void = () => undefined;
  const claimed = new Promise<void>((resolve) => (isReading = resolve));
  const inbound = await openInbound(database, {
    read: async (raw) => {
      isReading();
      await isOver;
      return readMessage(raw);
    },
    pollMs: 100,
  });
  await inbound.spool.append(
    ['one', 'two'].map((subject) =>
      spoolEntry({
        organizationId,
        mailboxId,
        source: 'smtp',
        recipient: address,
        receivedAt: new Date(),
        raw: rawMessage({ Subject: subject, 'Message-ID': `<${subject}@x.example>` }),
      }),
    ),
  );
  await inbound.pipeline.start();
  await claimed;
  await postgres.restartImmediately();
  goOn();
  await eventually(
    async () => (await storedMessages(database, organizationId, mailboxId)).length === 2,
    15_000,
  );
  await inbound.close();
  await database.close();
}, 90_000);
