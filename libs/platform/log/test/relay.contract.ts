import type { Pool } from 'pg';
import type { EventEnvelope } from '@dak/contracts/events';
import { Database } from '@dak/platform/postgres';
import { eventually, slowPeer } from '@dak/testing/waiting';
import {
  FencedError,
  type Log,
  type LogRecord,
  type OutboxRow,
  type RelayChannel,
} from '../src/log';
import { appendToOutbox, fromLogRecord, toOutboxRow, type StoredOutboxRow } from '../src/outbox';
import { OutboxRelay, type OutboxSource } from '../src/outbox-relay';
import { inTransaction } from '../src/sql-transaction';
import { cutConnections, openServiceDatabase, type LogDatabase } from './log-database';

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

export interface RelayUnderTest {
  log: Log;
  /** The ids in the log, those of a partition in their order. */
  published(): Promise<string[]>;
  /** URL of the database with the shard leases, as its owner. */
  admin: Pool;
  close(): Promise<void>;
}

/** Topics that every driver is opened with. */
export const RELAY_TOPICS = { 'mail.events.v1': 12 };
export const RELAY_LEASE_MS = 600;

/**
 * Nothing that was committed is lost, nothing else is published, and the order of a key holds.
 * @param repeats whether a relay that dies may leave events in the log a second time.
 */
export function describeRelay(start: () => Promise<RelayUnderTest>, repeats: boolean): void {
  let underTest: RelayUnderTest;
  let service: LogDatabase & { url: string };
  let database: Database;
  let log: Log;

  beforeEach(async () => {
    [underTest, service] = await Promise.all([start(), openServiceDatabase()]);
    database = new Database({ url: service.url, applicationName: 'test' });
    log = underTest.log;
  });
  afterEach(async () => {
    await log.close();
    await database.close();
    await Promise.all([underTest.close(), service.drop()]);
  });

  const append = (events: EventEnvelope[]): Promise<void> =>
    database.inTenant(ORGANIZATION, (tx) => appendToOutbox(tx, events));
  const relayOver = (channel: RelayChannel, maxBatch = 1_000): OutboxRelay =>
    new OutboxRelay({ source: database, channel, leaseMs: RELAY_LEASE_MS, maxBatch });
  const published = (): Promise<string[]> => underTest.published();
  /** Repetitions are allowed where they are, behind the first time. */
  const inPublishedOrder = async (): Promise<string[]> => {
    const ids = await published();
    if (!repeats) expect(new Set(ids).size).toBe(ids.length);
    return [...new Set(ids)];
  };
  const waiting = async (): Promise<number> => {
    const { rows } = await service.admin.query<{ n: number }>(
      'select count(*)::int as n from outbox',
    );
    return rows[0]!.n;
  };

  it('hears of a commit at once, however seldom it looks by itself', async () => {
    const channel = log.openRelay('mail', 'one');
    const relay = new OutboxRelay({ source: database, channel, pollMs: [60_000, 60_000] });
    relay.start();
    await eventually(async () => (await published()).length === 0);
    for (let n = 1; n <= 3; n += 1) {
      await append([event(n, 'a')]);
      await eventually(async () => (await published()).length === n);
    }
    await relay.stop();
  });

  it('moves committed events to consumers, whole and in order per conversation', async () => {
    const relay = relayOver(log.openRelay('mail', 'one'));
    relay.start();
    const seen: LogRecord[] = [];
    await log.subscribe(
      'reader',
      Object.keys(RELAY_TOPICS),
      async (batch) => void seen.push(...batch),
    );
    for (let n = 1; n <= 5; n += 1) await append([event(n, 'a'), event(n, 'b')]);
    await eventually(() => seen.length === 10);
    expect(fromLogRecord(seen.find(({ id }) => id === 'evt_a_1')!)).toEqual(event(1, 'a'));
    expect(seen[0]!.headers).toMatchObject({ ce_type: 'mail.received', ce_source: 'mail' });
    for (const conversation of ['a', 'b']) {
      const sequences = seen
        .map(fromLogRecord)
        .filter(({ conversationId }) => conversationId === conversation)
        .map(({ sequence }) => sequence);
      expect(sequences).toEqual([1, 2, 3, 4, 5]);
    }
    expect(await waiting()).toBe(0);
    expect(await relay.depth()).toEqual({ rows: 0, oldestAgeMs: 0 });
    await relay.stop();
  });

  it('publishes nothing of a transaction that rolled back', async () => {
    await expect(
      database.inTenant(ORGANIZATION, async (tx) => {
        await appendToOutbox(tx, [event(1, 'phantom')]);
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    await append([event(1, 'real')]);
    const relay = relayOver(log.openRelay('mail', 'one'));
    relay.start();
    await eventually(async () => (await waiting()) === 0 && (await published()).length > 0);
    expect(await published()).toEqual(['evt_real_1']);
    await relay.stop();
  });

  it('publishes a row that committed after later rows were relayed', async () => {
    const relay = relayOver(log.openRelay('mail', 'one'));
    relay.start();
    await database.inTenant(ORGANIZATION, async (tx) => {
      await appendToOutbox(tx, [event(1, 'slow')]);
      await append([event(1, 'quick'), event(2, 'quick')]);
      relay.wake();
      await eventually(async () => (await published()).length === 2);
    });
    relay.wake();
    await eventually(async () => (await published()).length === 3);
    expect((await published()).sort()).toEqual(['evt_quick_1', 'evt_quick_2', 'evt_slow_1']);
    await relay.stop();
  });

  it(`${repeats ? 'loses nothing' : 'publishes once'} although it dies between publishing and deleting, a hundred times`, async () => {
    const events = Array.from({ length: 300 }, (_, n) => event(n + 1, `c${n % 10}`));
    await append(events);
    for (let death = 0; death < 100; death += 1) {
      const inner = log.openRelay('mail', `relay ${death}`);
      const died = new Promise<void>((resolve) => {
        const relay = relayOver(
          {
            ...channelOf(inner),
            publish: async (rows) => {
              await inner.publish(rows);
              resolve();
              // As after kill -9: published, nothing deleted, and this relay does nothing more.
              await new Promise<never>(() => undefined);
            },
          },
          3,
        );
        relay.start();
      });
      await died;
      await underTest.admin.query(`update log_shard_lease set lease_until = now()`);
      if (death % 10 === 0) expect(await waiting()).toBeGreaterThan(0);
    }
    const last = relayOver(log.openRelay('mail', 'last'));
    await underTest.admin.query(`update log_shard_lease set lease_until = now()`);
    last.start();
    await eventually(async () => (await waiting()) === 0);
    await last.stop();
    const all = await published();
    const ids = [...new Set(all)];
    expect(ids).toHaveLength(300);
    // Every relay left at most its one batch of three behind.
    expect(all.length - ids.length).toBeLessThanOrEqual(repeats ? 300 : 0);
    for (let c = 0; c < 10; c += 1) {
      const own = ids.filter((id) => id.startsWith(`evt_c${c}_`));
      expect(own).toEqual(events.map(({ id }) => id).filter((id) => id.startsWith(`evt_c${c}_`)));
    }
  });

  it(`${repeats ? 'loses nothing' : 'publishes once'} when the answer to a publication is lost`, async () => {
    const inner = log.openRelay('mail', 'one');
    let lost = 0;
    const relay = relayOver({
      ...channelOf(inner),
      publish: async (rows) => {
        await inner.publish(rows);
        if (lost < 5) {
          lost += 1;
          throw new Error('Connection terminated unexpectedly');
        }
      },
    });
    relay.start();
    let written = 0;
    while (lost < 5) {
      written += 1;
      await append([event(written, 'a')]);
      relay.wake();
      await slowPeer(30);
    }
    await eventually(async () => (await waiting()) === 0);
    expect(await inPublishedOrder()).toEqual(
      Array.from({ length: written }, (_, n) => `evt_a_${n + 1}`),
    );
    await relay.stop();
  });

  it('refuses what a former owner publishes', async () => {
    const zombie = log.openRelay('mail', 'zombie');
    await zombie.renew(false);
    await underTest.admin.query(`update log_shard_lease set lease_until = now()`);
    const owner = log.openRelay('mail', 'owner');
    expect(await owner.renew(false)).toHaveLength(8);
    await append([event(1, 'a')]);
    const row: OutboxRow = await database.asWorker(async (tx) => {
      const { rows } = await tx.query<StoredOutboxRow>('select * from outbox');
      return toOutboxRow(rows[0]!);
    });
    await expect(zombie.publish([row])).rejects.toBeInstanceOf(FencedError);
    expect(await zombie.renew(false)).toEqual([]);
    expect(await published()).toEqual([]);
    await owner.publish([row]);
    expect(await published()).toEqual(['evt_a_1']);
  });

  it('passes on to a standby when the owner stops or falls silent', async () => {
    const first = relayOver(log.openRelay('mail', 'first'));
    const second = relayOver(log.openRelay('mail', 'second'));
    first.start();
    await append([event(1, 'a')]);
    await eventually(async () => (await published()).length === 1);
    second.start();
    await append([event(2, 'a')]);
    await eventually(async () => (await published()).length === 2);
    await first.stop();
    await append([event(3, 'a')]);
    await eventually(async () => (await published()).length === 3);
    await second.stop();
  });

  it('goes on after every connection to both databases was cut', async () => {
    const source: OutboxSource = {
      asWorker: (work) =>
        inTransaction(service.pool, async (client) => {
          await client.query(`set local dak.worker = 'on'`);
          return work({
            query: async <Row>(text: string, values?: readonly unknown[]) => {
              const { rows, rowCount } = await client.query(text, values && [...values]);
              return { rows: rows as Row[], rowCount: rowCount ?? 0 };
            },
          });
        }),
    };
    const channel = log.openRelay('mail', 'one');
    const relay = new OutboxRelay({ source, channel, leaseMs: RELAY_LEASE_MS });
    relay.start();
    for (let round = 0; round < 4; round += 1) {
      await append([event(round * 2 + 1, 'a'), event(round * 2 + 2, 'a')]);
      for (const { admin } of [underTest, service]) await cutConnections(admin);
      await slowPeer(30);
    }
    await eventually(async () => (await waiting()) === 0);
    expect(await inPublishedOrder()).toEqual(Array.from({ length: 8 }, (_, n) => `evt_a_${n + 1}`));
    await relay.stop();
  });
}

function channelOf(inner: RelayChannel): RelayChannel {
  return {
    renew: (uncertain) => inner.renew(uncertain),
    publish: (rows) => inner.publish(rows),
    release: () => inner.release(),
  };
}
