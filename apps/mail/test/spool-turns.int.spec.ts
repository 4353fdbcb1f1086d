import { randomUUID } from 'node:crypto';
import type { Database } from '@dak/platform/postgres';
import { eventually, timePasses } from '@dak/testing/waiting';
import { spoolEntry, type SpoolEntry, type SpoolEntryFacts } from '../src/spool/spool-entry';
import { createSpoolLeases } from '../src/spool/spool-leases';
import {
  claimSpoolEntries,
  spoolInsert,
  takeSpoolEntries,
  type ClaimedEntry,
} from '../src/spool/spool-store';
import { createSpoolTurns } from '../src/spool/spool-turns';
import { openMailDatabase, type MailDatabase } from './mail-fixtures';

let mail: MailDatabase;
let database: Database;

beforeAll(async () => {
  mail = await openMailDatabase();
  database = mail.database;
});
afterEach(() => database.asWorker((tx) => tx.query('delete from inbound_spool')));
afterAll(() => mail.close());

const put = (entries: readonly SpoolEntry[]) => database.batchAsWorker([spoolInsert(entries)]);
const mails = (count: number, facts: Partial<SpoolEntryFacts>): SpoolEntry[] =>
  Array.from({ length: count }, () =>
    spoolEntry({
      organizationId: randomUUID(),
      mailboxId: 'b8c5b9f4-6f3c-4d7e-9a57-0d5e4b2c1a00',
      source: 'smtp',
      recipient: 'a@b.example',
      clientAddress: '192.0.2.1',
      receivedAt: new Date(Date.now() - 1000),
      raw: Buffer.alloc(10),
      ...facts,
    }),
  );
const turnsOf = (
  options: { limit?: number; maxBytes?: number; leaseSeconds?: number; owner?: string } = {},
  expensive: () => string[] = () => [],
) => {
  const { limit = 10, ...rest } = options;
  const turns = createSpoolTurns(expensive, (turn, most) =>
    database.asWorker((tx) =>
      claimSpoolEntries(tx, {
        owner: 'one',
        maxBytes: 1_000_000,
        leaseSeconds: 60,
        ...rest,
        ...turn,
        limit: most,
      }),
    ),
  );
  return { next: () => turns.next(limit) };
};
const remove = async (entries: readonly ClaimedEntry[]) => {
  for (const { organizationId, id } of entries) {
    await database.inTenant(organizationId, (tx) => takeSpoolEntries(tx, organizationId, [id]));
  }
};

test('what one sender has piled up does not stand before the mail of others', async () => {
  const [big, small] = [randomUUID(), randomUUID()];
  await put(mails(500, { organizationId: big, mailFrom: 'flood@x.example' }));
  const wanted = [
    ...mails(1, { organizationId: big, clientAddress: '192.0.2.2' }),
    ...mails(1, { organizationId: big, mailFrom: 'ada@x.example' }),
    ...mails(1, { organizationId: big, mailboxId: randomUUID() }),
    ...mails(1, { organizationId: small }),
  ];
  await put(wanted);
  const entries = await turnsOf({ limit: 12 }).next();
  expect(entries.map(({ id }) => id)).toEqual(expect.arrayContaining(wanted.map(({ id }) => id)));
  const places = wanted.map(({ id }) => entries.findIndex((entry) => entry.id === id));
  expect(Math.max(...places)).toBeLessThanOrEqual(5);
});

test('a client that sends under hundreds of names has one turn beside the others of its organization', async () => {
  const organizationId = randomUUID();
  await put(
    Array.from({ length: 400 }, (_, index) =>
      mails(2, { organizationId, mailFrom: `${index}@flood${index}.example` }),
    ).flat(),
  );
  const wanted = ['192.0.2.2', '2001:db8::1', '2001:db8:0:1::1'].flatMap((clientAddress) =>
    mails(5, { organizationId, clientAddress, mailFrom: 'ada@x.example' }),
  );
  await put(wanted);
  const entries = await turnsOf({ limit: 24 }).next();
  expect(entries.map(({ id }) => id)).toEqual(expect.arrayContaining(wanted.map(({ id }) => id)));
});

test('senders behind one client have turns among themselves', async () => {
  const organizationId = randomUUID();
  const names = Array.from({ length: 60 }, (_, index) => `${index}@x.example`);
  await put(names.flatMap((mailFrom) => mails(5, { organizationId, mailFrom })));
  const turns = turnsOf({ limit: 20 });
  const seen: string[] = [];
  for (let claims = 0; claims < 3; claims += 1) {
    const entries = await turns.next();
    seen.push(...entries.map(({ mailFrom }) => mailFrom));
    await remove(entries);
  }
  expect(seen.sort()).toEqual(names.sort());
});

test('mail that is not due takes no turn from mail that is', async () => {
  const organizations = Array.from({ length: 30 }, () => randomUUID()).sort();
  const [due, ...others] = organizations.toReversed();
  await put(
    others.flatMap((organizationId) =>
      ['192.0.2.1', '192.0.2.2'].flatMap((clientAddress) =>
        mails(1, { organizationId, clientAddress }),
      ),
    ),
  );
  await database.asWorker((tx) =>
    tx.query(`update inbound_spool set next_attempt_at = now() + interval '1 hour'`),
  );
  await put(mails(1, { organizationId: due! }));
  expect(await turnsOf().next()).toHaveLength(1);
});

test('every flow and organization has its turn, however many there are', async () => {
  const organizations = Array.from({ length: 40 }, () => randomUUID());
  await put(
    organizations.flatMap((organizationId) =>
      ['a', 'b', 'c'].flatMap((name) =>
        mails(2, { organizationId, mailFrom: `${name}@x.example` }),
      ),
    ),
  );
  const turns = turnsOf({ limit: 30 });
  const seen: string[] = [];
  for (let claims = 0; seen.length < 240 && claims < 40; claims += 1) {
    const entries = await turns.next();
    seen.push(...entries.map(({ organizationId }) => organizationId));
    await remove(entries);
  }
  expect(seen).toHaveLength(240);
  expect(new Set(seen.slice(0, 160)).size).toBe(40);
});

test('a claim is bounded in octets, and takes one message whatever its size', async () => {
  const organizationId = randomUUID();
  const raw = Buffer.alloc(400);
  await put(mails(6, { organizationId, raw, sizeBytes: 400 }));
  const turns = turnsOf({ maxBytes: 1_000 });
  expect(await turns.next()).toHaveLength(2);
  const narrow = turnsOf({ maxBytes: 100 });
  expect(await narrow.next()).toHaveLength(1);
});

test('expensive clients wait until nothing else is due, and are not forgotten', async () => {
  const organizationId = randomUUID();
  await put([
    ...mails(30, { organizationId, clientAddress: '192.0.2.66' }),
    ...mails(30, { organizationId, clientAddress: '192.0.2.1' }),
  ]);
  const turns = turnsOf({ limit: 10 }, () => ['192.0.2.66']);
  const clients: (string | null)[] = [];
  for (let claims = 0; claims < 12; claims += 1) {
    const entries = await turns.next();
    clients.push(...entries.map(({ clientAddress }) => clientAddress));
    await remove(entries);
  }
  expect(clients).toHaveLength(60);
  expect(new Set(clients.slice(0, 30))).toEqual(new Set(['192.0.2.1']));
});

test('imports come after live mail', async () => {
  const organizationId = randomUUID();
  await put(mails(5, { organizationId, source: 'import', importId: randomUUID() }));
  await put(mails(5, { organizationId }));
  const turns = turnsOf();
  const sources = [...(await turns.next()), ...(await turns.next())].map(({ source }) => source);
  expect(sources).toEqual([...Array<string>(5).fill('smtp'), ...Array<string>(5).fill('import')]);
});

test('a lease is renewed while its entries are worked on, and runs out when nobody does', async () => {
  const organizationId = randomUUID();
  await put(mails(2, { organizationId }));
  const leases = createSpoolLeases(database, () => 'one', 1);
  const entries = leases.hold(await turnsOf({ leaseSeconds: 1, limit: 1 }).next());
  const lost = await turnsOf({ leaseSeconds: 1, owner: 'gone' }).next();
  expect([entries.length, lost.length]).toEqual([1, 1]);
  const taken = await waitFor(() => turnsOf({ owner: 'two' }).next());
  expect(taken.map(({ id }) => id)).toEqual(lost.map(({ id }) => id));
  // Longer than the lease that is renewed.
  await timePasses(1_500);
  expect(await turnsOf({ owner: 'two' }).next()).toEqual([]);
  await leases.giveBack(entries);
  const [again] = await turnsOf({ owner: 'two' }).next();
  expect(again).toMatchObject({ id: entries[0]!.id, attempts: 1 });
  leases.stop();
});

function waitFor(claim: () => Promise<ClaimedEntry[]>): Promise<ClaimedEntry[]> {
  return eventually('an entry comes due', async () => {
    const entries = await claim();
    return entries.length > 0 && entries;
  });
}
