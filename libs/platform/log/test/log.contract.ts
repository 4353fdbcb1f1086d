import type { Pool } from 'pg';
import { InvalidError, UnavailableError } from '@dak/kernel';
import { eventually, slowPeer, timePasses } from '@dak/testing/waiting';
import type { Log, LogRecord, RecordHandler } from '../src/log';
import { askReplay, dropParked, listParkedKeys, replayState } from '../src/parked-keys';
import { cutConnections, messagesFor } from './log-database';

/** Options of a process with a stable name. */
export interface ProcessLife {
  processName: string;
  leaseMs: number;
}

export interface LogUnderTest {
  /** Another handle on the same log, as a second process would have. */
  open(topics?: Record<string, number>, life?: ProcessLife): Promise<Log>;
  /** The database with the claims of the groups, as its owner. */
  admin: Pool;
  close(): Promise<void>;
}

/** Topics that every driver is opened with. */
export const CONTRACT_TOPICS = { 'orders.v1': 6, 'notes.v1': 3 };

const KEYS = Array.from({ length: 20 }, (_, i) => `key-${i}`);

/** Records the handler's events, by key. */
function recorder(): { seen: Map<string, string[]>; handler: RecordHandler; total: () => number } {
  const seen = new Map<string, string[]>();
  return {
    seen,
    total: () => [...seen.values()].reduce((sum, list) => sum + list.length, 0),
    handler: async (records) => {
      for (const { key, payload } of records) {
        seen.set(key, [...(seen.get(key) ?? []), Buffer.from(payload).toString()]);
      }
    },
  };
}

function inOrder(key: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `${key}#${i + 1}`);
}

/** What every driver has to do. */
export function describeLog(start: () => Promise<LogUnderTest>): void {
  let underTest: LogUnderTest;
  let log: Log;
  beforeEach(async () => {
    underTest = await start();
    log = await underTest.open();
  });
  afterEach(async () => {
    await log.close(2_000);
    await underTest.close();
  });

  it('gives back id, key, headers and bytes', async () => {
    const payload = Buffer.from([0, 1, 255, 10, 13, 92]);
    const headers = { plain: 'a', quoted: '"\\{}\n ä' };
    const records: LogRecord[] = [];
    await log.publish([{ id: 'evt_x', topic: 'notes.v1', key: 'k,"ä', headers, payload }]);
    await log.subscribe('reader', ['notes.v1'], async (batch) => void records.push(...batch));
    await eventually(() => records.length === 1);
    expect(records[0]).toMatchObject({ id: 'evt_x', topic: 'notes.v1', key: 'k,"ä', headers });
    expect(Buffer.from(records[0]!.payload).equals(payload)).toBe(true);
    expect(Math.abs(records[0]!.publishedAt - Date.now())).toBeLessThan(60_000);
  });

  it('keeps the order of each key, from several publishers', async () => {
    const { seen, handler, total } = recorder();
    await log.subscribe('reader', ['orders.v1'], handler, { maxBatch: 7 });
    await Promise.all(
      KEYS.map(async (key) => {
        for (const message of messagesFor('orders.v1', [key], 12)) await log.publish([message]);
      }),
    );
    await eventually(() => total() === KEYS.length * 12);
    for (const key of KEYS) expect(seen.get(key)).toEqual(inOrder(key, 12));
  });

  it('gives every group all events, and a late "latest" group only new ones', async () => {
    const [first, second, late] = [recorder(), recorder(), recorder()];
    await log.publish(messagesFor('notes.v1', ['a', 'b'], 2));
    await log.subscribe('first', ['notes.v1'], first.handler);
    await log.subscribe('second', ['notes.v1'], second.handler);
    await log.subscribe('late', ['notes.v1'], late.handler, { from: 'latest' });
    await eventually(() => first.total() === 4 && second.total() === 4);
    await log.publish(messagesFor('notes.v1', ['c'], 1));
    await eventually(() => first.total() === 5 && late.total() === 1);
    expect([...late.seen.keys()]).toEqual(['c']);
  });

  it('goes on after the last committed record when a member comes back', async () => {
    const before = recorder();
    await log.publish(messagesFor('orders.v1', KEYS, 3));
    const subscription = await log.subscribe('reader', ['orders.v1'], before.handler);
    await eventually(() => before.total() === KEYS.length * 3);
    await subscription.close();
    await log.publish(messagesFor('orders.v1', ['key-1'], 1));
    const after = recorder();
    await log.subscribe('reader', ['orders.v1'], after.handler);
    await eventually(() => after.total() === 1);
    // What would be read again comes before this.
    await log.publish(messagesFor('orders.v1', KEYS, 1));
    await eventually(() => after.total() > KEYS.length);
    const once = KEYS.map((key): [string, string[]] => [key, [`${key}#1`]]);
    expect(after.seen).toEqual(new Map(once).set('key-1', ['key-1#1', 'key-1#1']));
  });

  it('reports the lag of a group and its age', async () => {
    await log.publish(messagesFor('notes.v1', ['a', 'b', 'c'], 2));
    const { handler, total } = recorder();
    const subscription = await log.subscribe('reader', ['notes.v1'], handler);
    await eventually(() => total() === 6);
    await subscription.close();
    const none = await log.lag('reader');
    expect(none).toHaveLength(3);
    expect(none.every(({ records, oldestAgeMs }) => records === 0 && oldestAgeMs === 0)).toBe(true);
    await log.publish(messagesFor('notes.v1', ['a', 'b', 'c'], 5));
    await timePasses(20);
    const behind = await log.lag('reader');
    expect(behind.reduce((sum, { records }) => sum + records, 0)).toBe(15);
    expect(Math.max(...behind.map(({ oldestAgeMs }) => oldestAgeMs))).toBeGreaterThan(15);
  });

  it('reads again from where a group is moved to', async () => {
    const { handler, total } = recorder();
    await log.publish(messagesFor('notes.v1', ['a', 'b', 'c'], 4));
    await log.subscribe('reader', ['notes.v1'], handler);
    await eventually(() => total() === 12);
    await log.seek('reader', 'notes.v1', 'earliest');
    await eventually(() => total() === 24);
    await log.seek('reader', 'notes.v1', 'latest');
    await log.publish(messagesFor('notes.v1', ['d'], 1));
    await eventually(() => total() === 25);
  });

  it('runs different keys in parallel and one key serially', async () => {
    let running = 0;
    let most = 0;
    const runningKeys = new Set<string>();
    let overlaps = 0;
    const handler: RecordHandler = async (_, { key }) => {
      running += 1;
      most = Math.max(most, running);
      if (runningKeys.has(key)) overlaps += 1;
      runningKeys.add(key);
      await slowPeer(10);
      runningKeys.delete(key);
      running -= 1;
    };
    await log.publish(messagesFor('orders.v1', KEYS, 4));
    await log.subscribe('reader', ['orders.v1'], handler, { concurrency: 5, maxBatch: 1 });
    await eventually(async () => sumLag(await log.lag('reader')) === 0);
    expect(most).toBe(5);
    expect(overlaps).toBe(0);
  });

  it('retries in place while a dependency is away, without parking', async () => {
    const { seen, handler, total } = recorder();
    const awayUntil = Date.now() + 600;
    await log.publish(messagesFor('notes.v1', ['a', 'b'], 3));
    await log.subscribe('reader', ['notes.v1'], async (records, context) => {
      if (Date.now() < awayUntil) throw new UnavailableError('away');
      await handler(records, context);
    });
    await eventually(() => total() === 6);
    expect(seen.get('a')).toEqual(inOrder('a', 3));
    expect(await log.parked('reader')).toEqual([]);
  });

  it('parks the key of a record that can never work, and only that key', async () => {
    const { seen, handler } = recorder();
    await log.publish(messagesFor('notes.v1', ['bad', 'good', 'fine'], 3));
    const subscription = await log.subscribe('reader', ['notes.v1'], async (records, context) => {
      if (records.some(({ key, headers }) => key === 'bad' && headers['n'] === '2')) {
        throw new InvalidError('the record cannot be read');
      }
      await handler(records, context);
    });
    await eventually(async () => sumLag(await log.lag('reader')) === 0);
    await log.publish(messagesFor('notes.v1', ['bad'], 1));
    await eventually(async () => (await log.parked('reader'))[0]?.records === 3);
    expect(seen.get('bad')).toEqual(['bad#1']);
    expect(seen.get('good')).toEqual(inOrder('good', 3));
    expect(seen.get('fine')).toEqual(inOrder('fine', 3));
    const [parked] = await log.parked('reader');
    expect(parked).toMatchObject({ topic: 'notes.v1', key: 'bad' });
    expect(parked!.reason).toContain('the record cannot be read');
    await subscription.close();
  });

  it('parks a key after five failed tries', async () => {
    let tries = 0;
    await log.publish(messagesFor('notes.v1', ['a'], 1));
    await log.subscribe('reader', ['notes.v1'], async () => {
      tries += 1;
      throw new Error('a defect');
    });
    await eventually(async () => (await log.parked('reader')).length === 1);
    expect(tries).toBe(5);
  });

  it('replays a parked key in order, then lets it flow', async () => {
    const { seen, handler } = recorder();
    let broken = true;
    await log.publish(messagesFor('notes.v1', ['a'], 3));
    const subscription = await log.subscribe('reader', ['notes.v1'], async (records, context) => {
      if (broken) throw new InvalidError('not yet');
      await handler(records, context);
    });
    await eventually(async () => (await log.parked('reader'))[0]?.records === 3);
    await expect(subscription.replayParked('notes.v1', 'a')).rejects.toThrow('not yet');
    expect((await log.parked('reader'))[0]!.records).toBe(3);
    broken = false;
    expect(await subscription.replayParked('notes.v1', 'a')).toEqual({ replayed: 3, remaining: 0 });
    expect(await log.parked('reader')).toEqual([]);
    await log.publish(messagesFor('notes.v1', ['a'], 1));
    await eventually(() => seen.get('a')?.length === 4);
    expect(seen.get('a')).toEqual([...inOrder('a', 3), 'a#1']);
    await expect(subscription.replayParked('notes.v1', 'a')).rejects.toMatchObject({
      kind: 'conflict',
    });
  });

  it('carries out a replay that was asked for, and tells why one fails', async () => {
    const { seen, handler } = recorder();
    let broken = true;
    await log.publish(messagesFor('notes.v1', ['a'], 3));
    await log.subscribe('reader', ['notes.v1'], async (records, context) => {
      if (broken) throw new InvalidError('not yet');
      await handler(records, context);
    });
    await eventually(async () => (await log.parked('reader'))[0]?.records === 3);
    expect(await log.countParked(['reader'])).toEqual(new Map([['reader', 1]]));
    const [listed, ...others] = await listParkedKeys(underTest.admin);
    expect(others).toEqual([]);
    expect(listed).toMatchObject({ group: 'reader', topic: 'notes.v1', key: 'a', events: 3 });
    expect(listed!.reason).toBe('InvalidError: not yet');
    await askReplay(underTest.admin, listed!);
    await eventually(async () => (await replayState(underTest.admin, listed!)).is === 'failed');
    expect(await replayState(underTest.admin, listed!)).toMatchObject({
      events: 3,
      reason: listed!.reason,
    });
    broken = false;
    await askReplay(underTest.admin, listed!);
    await eventually(async () => (await replayState(underTest.admin, listed!)).is === 'done');
    expect(seen.get('a')).toEqual(inOrder('a', 3));
    await log.publish(messagesFor('notes.v1', ['a'], 1));
    await eventually(() => seen.get('a')?.length === 4);
  });

  it('ends a replay whose key is taken away meanwhile', async () => {
    let broken = true;
    await log.publish(messagesFor('notes.v1', ['a'], 2));
    const subscription = await log.subscribe('reader', ['notes.v1'], async () => {
      if (broken) throw new InvalidError('not yet');
      await underTest.admin.query('delete from parked_message');
      await underTest.admin.query('delete from parked_key');
    });
    await eventually(async () => (await log.parked('reader'))[0]?.records === 2);
    broken = false;
    expect(await subscription.replayParked('notes.v1', 'a')).toEqual({ replayed: 1, remaining: 0 });
  });

  it('goes on with later events of a key whose parked ones are dropped', async () => {
    const { seen, handler } = recorder();
    await log.publish(messagesFor('notes.v1', ['a'], 3));
    await log.subscribe('reader', ['notes.v1'], async (records, context) => {
      if (records.some(({ headers }) => headers['n'] === '2')) throw new InvalidError('broken');
      await handler(records, context);
    });
    await eventually(async () => (await log.parked('reader'))[0]?.records === 2);
    const [listed] = await listParkedKeys(underTest.admin, {
      key: 'a',
      group: 'reader',
      topic: 'notes.v1',
    });
    expect(await dropParked(underTest.admin, listed!)).toHaveLength(2);
    expect(await dropParked(underTest.admin, listed!)).toBeNull();
    expect(await listParkedKeys(underTest.admin)).toEqual([]);
    await log.publish(messagesFor('notes.v1', ['a'], 1));
    await eventually(() => seen.get('a')?.length === 2);
    expect(seen.get('a')).toEqual(['a#1', 'a#1']);
    const { rows } = await underTest.admin.query(
      'select action, key, event_ids from parked_action',
    );
    expect(rows).toMatchObject([{ action: 'dropped', key: 'a', event_ids: { length: 2 } }]);
  });

  it('counts what its groups have not read', async () => {
    await log.publish(messagesFor('notes.v1', ['a', 'b'], 4));
    const held = Promise.withResolvers<void>();
    await log.subscribe('reader', ['notes.v1'], () => held.promise);
    expect(log.groups()).toEqual(['reader']);
    expect(await log.backlog(['reader'])).toEqual(new Map([['reader', 8]]));
    held.resolve();
    await eventually(async () => (await log.backlog(['reader'])).get('reader') === 0);
  });

  it('keeps order when events arrive while their key is replayed', async () => {
    const seen: string[] = [];
    let broken = true;
    await log.publish(messagesFor('notes.v1', ['a'], 20));
    const subscription = await log.subscribe('reader', ['notes.v1'], async (records) => {
      if (broken) throw new InvalidError('not yet');
      await slowPeer(3);
      seen.push(...records.map(({ id }) => id));
    });
    await eventually(async () => (await log.parked('reader'))[0]?.records === 20);
    broken = false;
    const later = messagesFor('notes.v1', ['a'], 40);
    const publishing = (async () => {
      for (const message of later) await log.publish([message]);
    })();
    await subscription.replayParked('notes.v1', 'a');
    await publishing;
    await eventually(() => seen.length === 60);
    const numbers = seen.map((id) => Number(id.slice('evt_'.length)));
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    expect(await log.parked('reader')).toEqual([]);
  });

  it('takes over at once what a former life of the same process held', async () => {
    const leaseMs = 60_000;
    const [dead, other] = await Promise.all([
      underTest.open(CONTRACT_TOPICS, { processName: 'mail-1', leaseMs }),
      underTest.open(CONTRACT_TOPICS, { processName: 'mail-10', leaseMs }),
    ]);
    // Its handler never returns, as of a process that was killed in the middle.
    const held = await dead.subscribe('reader', ['notes.v1'], () => new Promise(() => undefined));
    const others = await other.subscribe('others', ['notes.v1'], async () => undefined);
    await eventually(() => held.assigned().length === 3 && others.assigned().length === 3);
    expect(await dead.openRelay('mail').renew(true)).toHaveLength(8);
    expect(await other.openRelay('gateway').renew(true)).toHaveLength(8);
    await log.publish(messagesFor('notes.v1', ['a', 'b', 'c'], 1));

    const began = performance.now();
    const next = await underTest.open(CONTRACT_TOPICS, { processName: 'mail-1', leaseMs });
    const { handler, total } = recorder();
    const reader = await next.subscribe('reader', ['notes.v1'], handler);
    await eventually(() => total() === 3);
    expect(performance.now() - began).toBeLessThan(leaseMs / 6);
    expect(reader.assigned()).toHaveLength(3);
    expect(await next.openRelay('mail').renew(true)).toHaveLength(8);
    // A process whose name only has the same prefix keeps its leases.
    expect(await next.openRelay('gateway').renew(true)).toHaveLength(0);
    await Promise.all([dead, other, next].map((each) => each.close(100)));
  }, 30_000);

  it('shares the partitions among members and keeps order through joins and leaves', async () => {
    const others = await Promise.all([underTest.open(), underTest.open()]);
    const seen = new Map<string, string[]>();
    const handler: RecordHandler = async (records) => {
      for (const { key, payload } of records) {
        seen.set(key, [...(seen.get(key) ?? []), Buffer.from(payload).toString()]);
        await slowPeer(1);
      }
    };
    const first = await log.subscribe('reader', ['orders.v1'], handler, { maxBatch: 3 });
    await eventually(() => first.assigned().length === 6);
    let publishing = true;
    const published = (async () => {
      let rounds = 0;
      while (publishing) {
        rounds += 1;
        await log.publish(
          messagesFor('orders.v1', KEYS, 1).map((message) => ({
            ...message,
            payload: Buffer.from(`${message.key}#${rounds}`),
          })),
        );
        await slowPeer(20);
      }
      return rounds;
    })();
    const second = await others[0].subscribe('reader', ['orders.v1'], handler, { maxBatch: 3 });
    const third = await others[1].subscribe('reader', ['orders.v1'], handler, { maxBatch: 3 });
    await eventually(() =>
      [first, second, third].every((member) => member.assigned().length === 2),
    );
    const all = [first, second, third].flatMap((member) => member.assigned());
    expect(new Set(all).size).toBe(6);
    await second.close();
    await eventually(() => first.assigned().length + third.assigned().length === 6);
    publishing = false;
    const rounds = await published;
    await eventually(async () => sumLag(await log.lag('reader')) === 0);
    for (const key of KEYS) expect(firstOccurrences(seen.get(key)!)).toEqual(inOrder(key, rounds));
    await Promise.all(others.map((other) => other.close(2_000)));
  });

  it('drains on close: what runs is finished and committed, nothing new starts', async () => {
    const started: string[] = [];
    const ended: string[] = [];
    await log.publish(messagesFor('notes.v1', ['a'], 10));
    const subscription = await log.subscribe(
      'reader',
      ['notes.v1'],
      async (records) => {
        started.push(...records.map(({ id }) => id));
        await slowPeer(150);
        ended.push(...records.map(({ id }) => id));
      },
      { maxBatch: 2 },
    );
    await eventually(() => started.length > 0);
    await subscription.close(5_000);
    expect(ended).toEqual(started);
    expect(started.length).toBeLessThan(10);
    expect(sumLag(await log.lag('reader'))).toBe(10 - ended.length);
    const rest = recorder();
    await log.subscribe('reader', ['notes.v1'], rest.handler);
    await eventually(() => rest.total() === 10 - ended.length);
  });

  it('keeps its partitions while a handler is slower than the lease', async () => {
    const calls: number[] = [];
    await log.publish(messagesFor('notes.v1', ['a'], 2));
    await log.subscribe(
      'reader',
      ['notes.v1'],
      async (records) => {
        calls.push(records[0]!.offset);
        if (calls.length === 1) await slowPeer(1_500);
      },
      { maxBatch: 1 },
    );
    await eventually(async () => calls.length > 0 && sumLag(await log.lag('reader')) === 0);
    expect(calls).toEqual([0, 1]);
  });

  it('does not wait for a handler beyond the drain time, and its records come again', async () => {
    let release: () => void = () => undefined;
    const stuck = new Promise<void>((resolve) => (release = resolve));
    let called = false;
    let aborted = false;
    await log.publish(messagesFor('notes.v1', ['a'], 1));
    const subscription = await log.subscribe('reader', ['notes.v1'], async (_, { signal }) => {
      called = true;
      signal.addEventListener('abort', () => (aborted = true));
      await stuck;
    });
    await eventually(() => called);
    const asked = Date.now();
    await subscription.close(200);
    expect(Date.now() - asked).toBeLessThan(2_000);
    expect(aborted).toBe(true);
    const again = recorder();
    await log.subscribe('reader', ['notes.v1'], again.handler);
    await eventually(() => again.total() === 1);
    release();
  });

  it('reads again from an offset of one partition, and from a time', async () => {
    const seen: LogRecord[] = [];
    await log.publish(messagesFor('notes.v1', ['a', 'b', 'c', 'd', 'e', 'f'], 2));
    await timePasses(30);
    const between = Date.now();
    await timePasses(30);
    await log.publish(messagesFor('notes.v1', ['a', 'b', 'c', 'd', 'e', 'f'], 1));
    const subscription = await log.subscribe('reader', ['notes.v1'], async (batch) => {
      seen.push(...batch);
    });
    await eventually(() => seen.length === 18);
    await subscription.close();
    const { partition } = seen[0]!;
    const own = seen.filter((record) => record.partition === partition).length;
    await log.seek('reader', 'notes.v1', { partition, offset: 1 });
    expect(sumLag(await log.lag('reader'))).toBe(own - 1);
    await log.seek('reader', 'notes.v1', { partition, offset: 1_000_000 });
    expect(sumLag(await log.lag('reader'))).toBe(0);
    await log.seek('reader', 'notes.v1', { time: between });
    expect(sumLag(await log.lag('reader'))).toBe(6);
  });

  it('does not let a running member commit over a seek', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const calls: string[] = [];
    await log.publish(messagesFor('notes.v1', ['a'], 1));
    await log.subscribe('reader', ['notes.v1'], async (records) => {
      calls.push(...records.map(({ id }) => id));
      if (calls.length === 1) await held;
    });
    await eventually(() => calls.length === 1);
    await log.seek('reader', 'notes.v1', 'earliest');
    release();
    await eventually(async () => calls.length === 2 && sumLag(await log.lag('reader')) === 0);
    expect(calls[1]).toBe(calls[0]);
  });

  it('fences a member that was away longer than its lease', async () => {
    let finishFirst: () => void = () => undefined;
    const firstCall = new Promise<void>((resolve) => (finishFirst = resolve));
    let calls = 0;
    await log.publish(messagesFor('notes.v1', ['a'], 1));
    const zombie = await log.subscribe('reader', ['notes.v1'], async () => {
      calls += 1;
      await firstCall;
    });
    await eventually(() => calls === 1);
    await giveToAnother(underTest.admin);
    finishFirst();
    await eventually(() => zombie.assigned().length === 0);
    // In which a commit of its own would arrive.
    await timePasses(100);
    expect(sumLag(await log.lag('reader'))).toBe(1);

    await underTest.admin.query(`update consumer_offset set lease_until = now()`);
    await eventually(async () => sumLag(await log.lag('reader')) === 0);
    expect(calls).toBe(2);
  });

  it('does not park for a member that has been fenced', async () => {
    let fail: () => void = () => undefined;
    const failing = new Promise<void>((_, reject) => (fail = () => reject(new Error('defect'))));
    let called = false;
    await log.publish(messagesFor('notes.v1', ['a'], 1));
    const zombie = await log.subscribe(
      'reader',
      ['notes.v1'],
      async () => {
        called = true;
        await failing;
      },
      { maxAttempts: 1 },
    );
    await eventually(() => called);
    await giveToAnother(underTest.admin);
    fail();
    await eventually(() => zombie.assigned().length === 0);
    expect(await log.parked('reader')).toEqual([]);
  });

  it('goes on after every connection to its database was cut', async () => {
    const seen: string[] = [];
    await log.subscribe('reader', ['orders.v1'], async (records) => {
      seen.push(...records.map(({ id }) => id));
    });
    await log.publish(messagesFor('orders.v1', ['a', 'b'], 1));
    await eventually(() => seen.length === 2);
    await cutConnections(underTest.admin);
    const more = messagesFor('orders.v1', ['a', 'b'], 1);
    await eventually(() => log.publish(more).then(() => true));
    await eventually(() => new Set(seen).size === 4);
  });

  it('reads a partition again that it gave up while the database was away', async () => {
    const { handler, total } = recorder();
    const member = await log.subscribe('reader', ['notes.v1'], handler);
    await eventually(() => member.assigned().length === 3);
    // Away for longer than the lease, and no other member could take over.
    await underTest.admin.query('alter table consumer_offset rename to away');
    await eventually(() => member.assigned().length === 0);
    await underTest.admin.query('alter table away rename to consumer_offset');
    await log.publish(messagesFor('notes.v1', ['a', 'b', 'c', 'd', 'e', 'f'], 2));
    await eventually(() => total() === 12);
  });

  it('takes and gives back events of many sizes at once', async () => {
    const sizes = [0, 1, 500, 70_000, 400_000, 1_200_000, 300, 600_000, 600_000];
    const seen: number[] = [];
    await log.publish(
      messagesFor('notes.v1', ['a'], sizes.length).map((message, n) => ({
        ...message,
        payload: Buffer.alloc(sizes[n]!, n),
      })),
    );
    await log.subscribe('reader', ['notes.v1'], async (records) => {
      for (const { payload } of records) seen.push(payload.byteLength);
    });
    await eventually(() => seen.length === sizes.length);
    expect(seen).toEqual(sizes);
  });

  it('refuses to change the number of partitions of a topic', async () => {
    await expect(underTest.open({ 'orders.v1': 7 })).rejects.toMatchObject({
      kind: 'conflict',
      code: 'partition_count',
    });
  });

  it('refuses topics it does not have', async () => {
    await expect(log.publish(messagesFor('unknown.v1', ['a'], 1))).rejects.toMatchObject({
      kind: 'invalid',
    });
  });
}

/** As a stopped process would look to the others: its leases and its membership have run out. */
async function giveToAnother(admin: Pool): Promise<void> {
  await admin.query(
    `update consumer_offset
        set owner = 'another', epoch = epoch + 1, lease_until = now() + interval '1 hour'`,
  );
}

export function sumLag(lag: readonly { records: number }[]): number {
  return lag.reduce((sum, { records }) => sum + records, 0);
}

/** At least once may repeat; the first time each record is seen has to be in order. */
function firstOccurrences(list: readonly string[]): string[] {
  return [...new Set(list)];
}
