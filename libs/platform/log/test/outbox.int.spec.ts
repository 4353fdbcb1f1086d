import type { EventEnvelope } from '@dak/contracts/events';
import { Database } from '@dak/platform/postgres';
import { appendToOutbox, claimInbox, fromLogRecord, sweepInbox, toOutboxRow } from '../src/outbox';
import { openServiceDatabase, type LogDatabase } from './log-database';

const ORGANIZATION = '0192f0c4-0000-7000-8000-000000000001';

function event(n: number, conversation: string): EventEnvelope {
  return {
    id: `evt_${conversation}_${n}`,
    type: 'mail.received',
    source: 'mail',
    organizationId: ORGANIZATION,
    conversationId: conversation,
    partitionKey: `${ORGANIZATION}:${conversation}`,
    causationDepth: 0,
    sequence: n,
    occurredAt: new Date(1_760_000_000_000),
    actor: { type: 'user', id: 'u1', name: 'Asha "ä" O\'Neil' },
    dataSchema: 'dak.events.v1.MailReceived',
    dataVersion: 1,
    data: Buffer.from([0, 255, n % 256]),
  };
}

describe('outbox and inbox', () => {
  let service: LogDatabase & { url: string };
  let database: Database;

  beforeEach(async () => {
    service = await openServiceDatabase();
    database = new Database({ url: service.url, applicationName: 'test' });
  });
  afterEach(async () => {
    await database.close();
    await service.drop();
  });

  it('shows the outbox to workers only', async () => {
    await database.inTenant(ORGANIZATION, (tx) => appendToOutbox(tx, [event(1, 'a')]));
    const read = 'select topic from outbox';
    expect((await database.inTenant(ORGANIZATION, (tx) => tx.query(read))).rows).toEqual([]);
    expect((await database.asWorker((tx) => tx.query(read))).rows).toEqual([
      { topic: 'mail.events.v1' },
    ]);
  });

  it('lets effects in the transaction of the inbox happen once', async () => {
    const claim = (ids: string[]): Promise<Set<string>> =>
      database.inTenant(ORGANIZATION, (tx) => claimInbox(tx, 'reader', ids));
    expect(await claim(['evt_1', 'evt_2'])).toEqual(new Set(['evt_1', 'evt_2']));
    expect(await claim(['evt_2', 'evt_3'])).toEqual(new Set(['evt_3']));
    await service.admin.query(
      `update inbox set received_at = now() - interval '40 days' where event_id = 'evt_1'`,
    );
    expect(await database.asWorker((tx) => sweepInbox(tx, 30, 100))).toBe(1);
    expect(await claim(['evt_1', 'evt_2'])).toEqual(new Set(['evt_1']));
  });

  it('lets bytes that are no envelope pass the relay, under a key of their own', () => {
    const stored = {
      seq: '7',
      topic: 'mail.events.v1',
      shard: 3,
      payload: Buffer.from('not protobuf'),
    };
    const row = toOutboxRow(stored);
    expect(row).toMatchObject({ seq: 7, shard: 3, key: row.id, payload: stored.payload });
  });

  it('refuses to read what is no envelope as invalid, so that it is parked', () => {
    const record = {
      id: 'evt_1',
      topic: 'mail.events.v1',
      key: 'k',
      headers: {},
      payload: Buffer.from('not protobuf'),
      partition: 0,
      offset: 0,
      publishedAt: 0,
    };
    expect(() => fromLogRecord(record)).toThrow(expect.objectContaining({ kind: 'invalid' }));
  });
});
