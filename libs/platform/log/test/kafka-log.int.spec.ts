import { randomBytes } from 'node:crypto';
import { ConfigResourceTypes, Kafka, logLevel, type Admin } from 'kafkajs';
import { InvalidError } from '@dak/kernel';
import { describeWithKafka } from '@dak/testing/kafka';
import { eventually, timePasses } from '@dak/testing/waiting';
import { KafkaLog, type KafkaLogOptions, type LogRecord } from '../src/index';
import { CONTRACT_TOPICS, describeLog, sumLag } from './log.contract';
import { RELAY_LEASE_MS, RELAY_TOPICS, describeRelay } from './relay.contract';
import { messagesFor, openLogDatabase, type LogDatabase } from './log-database';

const LEASE_MS = 900;
const DAY_MS = 86_400_000;

describeWithKafka('KafkaLog', (openKafka) => {
  let database: LogDatabase;
  let prefix: string;
  let deaths: Error[];
  const openLog = async (changes: Partial<KafkaLogOptions> = {}): Promise<KafkaLog> =>
    KafkaLog.open({
      brokers: [await openKafka()],
      pool: database.pool,
      topics: CONTRACT_TOPICS,
      leaseMs: LEASE_MS,
      prefix,
      onDead: (error) => deaths.push(error),
      ...changes,
    });
  beforeEach(async () => {
    database = await openLogDatabase();
    prefix = `t${randomBytes(6).toString('hex')}.`;
    deaths = [];
  });
  afterEach(() => expect(deaths).toEqual([]));

  describe('as a log', () => {
    describeLog(async () => ({
      open: (topics, life) => openLog({ ...(topics === undefined ? {} : { topics }), ...life }),
      admin: database.admin,
      close: () => database.drop(),
    }));
  });

  describe('behind a relay', () => {
    describeRelay(async () => {
      const log = await openLog({ topics: RELAY_TOPICS, leaseMs: RELAY_LEASE_MS });
      return {
        log,
        admin: database.admin,
        published: () => idsIn(log, Object.keys(RELAY_TOPICS)),
        close: () => database.drop(),
      };
    }, true);
  });

  describe('in Kafka', () => {
    let log: KafkaLog;
    let admin: Admin;
    beforeEach(async () => {
      log = await openLog();
      admin = new Kafka({
        brokers: [await openKafka()],
        logLevel: logLevel.NOTHING,
      }).admin();
      await admin.connect();
    });
    afterEach(async () => {
      await log.close(2_000);
      await admin.disconnect();
      await database.drop();
    });

    const settingsOf = async (topic: string): Promise<Record<string, string>> => {
      const { resources } = await admin.describeConfigs({
        includeSynonyms: false,
        resources: [{ type: ConfigResourceTypes.TOPIC, name: prefix + topic }],
      });
      return Object.fromEntries(
        resources[0]!.configEntries.map(({ configName, configValue }) => [configName, configValue]),
      );
    };

    it('makes its topics with their partitions and retention', async () => {
      const { topics } = await admin.fetchTopicMetadata({
        topics: Object.keys(CONTRACT_TOPICS).map((topic) => prefix + topic),
      });
      expect(Object.fromEntries(topics.map((t) => [t.name, t.partitions.length]))).toEqual({
        [`${prefix}orders.v1`]: 6,
        [`${prefix}notes.v1`]: 3,
      });
      expect((await settingsOf('orders.v1'))['retention.ms']).toBe(String(14 * DAY_MS));
    });

    it('changes the retention of topics that exist and leaves other settings alone', async () => {
      await admin.alterConfigs({
        validateOnly: false,
        resources: [
          {
            type: ConfigResourceTypes.TOPIC,
            name: `${prefix}orders.v1`,
            configEntries: [
              { name: 'segment.bytes', value: '2097152' },
              { name: 'retention.ms', value: '1000000' },
            ],
          },
        ],
      });
      const becomes = (name: string, value: string) =>
        eventually(async () => (await settingsOf('orders.v1'))[name] === value);
      await becomes('segment.bytes', '2097152');
      await (await openLog({ keepDays: 3 })).close();
      await becomes('retention.ms', String(3 * DAY_MS));
      expect((await settingsOf('orders.v1'))['segment.bytes']).toBe('2097152');
    });

    it('shows the progress of a group to the tools of Kafka', async () => {
      await log.publish(messagesFor('notes.v1', ['a', 'b', 'c', 'd'], 5));
      let seen = 0;
      const subscription = await log.subscribe('reader', ['notes.v1'], async (records) => {
        seen += records.length;
      });
      await eventually(() => seen === 20);
      const committed = async (): Promise<number> => {
        const group = { groupId: `${prefix}reader`, topics: [`${prefix}notes.v1`] };
        // The first commit of all makes the brokers set up their coordinator, which takes a while.
        const [offsets] = await admin.fetchOffsets(group).catch(() => []);
        const positions = offsets?.partitions.map(({ offset }) => Number(offset)) ?? [];
        return positions.reduce((sum, offset) => sum + Math.max(0, offset), 0);
      };
      await eventually(async () => (await committed()) === 20);
      await log.publish(messagesFor('notes.v1', ['e'], 1));
      await eventually(() => seen === 21);
      await subscription.close();
      expect(await committed()).toBe(21);
    });

    it('copies parked records with the reason to the topic for dead letters', async () => {
      await log.publish(messagesFor('notes.v1', ['bad'], 2));
      await log.subscribe('reader', ['notes.v1'], async () => {
        throw new InvalidError('cannot be read');
      });
      const topics = { ...CONTRACT_TOPICS, 'notes.v1.reader.dlq': 1 };
      const copies: LogRecord[] = [];
      const operator = await openLog({ topics });
      await operator.subscribe('operator', ['notes.v1.reader.dlq'], async (records) => {
        copies.push(...records);
      });
      await eventually(() => copies.length === 2);
      expect(copies.map(({ key, payload }) => [key, Buffer.from(payload).toString()])).toEqual([
        ['bad', 'bad#1'],
        ['bad', 'bad#2'],
      ]);
      expect(copies[0]!.headers).toMatchObject({
        n: '1',
        dak_error: 'InvalidError: cannot be read',
        dak_group: 'reader',
        dak_topic: 'notes.v1',
        dak_offset: '0',
      });
      await operator.close();
    });

    it('reads on at the oldest record when retention went past a group', async () => {
      await log.publish(messagesFor('notes.v1', ['a'], 5));
      const seen: number[] = [];
      const first = await log.subscribe('reader', ['notes.v1'], async (records) => {
        seen.push(...records.map(({ offset }) => offset));
      });
      await eventually(() => seen.length === 5);
      await first.close();
      const { partition } = (await log.lag('reader')).find(({ records }) => records === 0)!;
      expect(partition).toBeGreaterThanOrEqual(0);
      await log.seek('reader', 'notes.v1', 'earliest');
      const ends = await admin.fetchTopicOffsets(`${prefix}notes.v1`);
      await admin.deleteTopicRecords({
        topic: `${prefix}notes.v1`,
        partitions: ends.map(({ partition: part, high }) => ({
          partition: part,
          offset: String(Math.min(3, Number(high))),
        })),
      });
      expect(sumLag(await log.lag('reader'))).toBe(2);
      await log.subscribe('reader', ['notes.v1'], async (records) => {
        seen.push(...records.map(({ offset }) => offset));
      });
      await eventually(() => seen.length === 7);
      expect(seen.slice(5)).toEqual([3, 4]);
      await eventually(async () => sumLag(await log.lag('reader')) === 0);
    });

    it('reads on at the first record when a topic was made anew', async () => {
      await log.publish(messagesFor('notes.v1', ['a'], 4));
      let seen = 0;
      const first = await log.subscribe('reader', ['notes.v1'], async (records) => {
        seen += records.length;
      });
      await eventually(() => seen === 4);
      await first.close();
      await database.admin.query(`update consumer_offset set off = off + 100 where off > 0`);
      await log.subscribe('reader', ['notes.v1'], async (records) => {
        seen += records.length;
      });
      await eventually(() => seen === 8);
      await eventually(async () => sumLag(await log.lag('reader')) === 0);
    });

    it('gives a place as an id to what others wrote to a topic', async () => {
      const producer = new Kafka({
        brokers: [await openKafka()],
        logLevel: logLevel.NOTHING,
      }).producer();
      await producer.connect();
      await producer.send({
        topic: `${prefix}notes.v1`,
        messages: [{ key: 'k', value: 'plain', partition: 2 }],
      });
      await producer.disconnect();
      const seen: LogRecord[] = [];
      await log.subscribe('reader', ['notes.v1'], async (records) => void seen.push(...records));
      await eventually(() => seen.length === 1);
      expect(seen[0]).toMatchObject({ id: 'notes.v1/2/0', key: 'k', headers: {} });
    });

    it('costs next to nothing while nothing happens', async () => {
      await log.publish(messagesFor('notes.v1', ['a'], 1));
      let seen = 0;
      await log.subscribe('reader', ['notes.v1', 'orders.v1'], async () => void (seen += 1));
      await eventually(() => seen === 1);
      await timePasses(200);
      const before = process.cpuUsage();
      await timePasses(1_000);
      const { user, system } = process.cpuUsage(before);
      // kafkajs unmended takes 5.7 % for its timers alone.
      expect((user + system) / 1_000_000).toBeLessThan(0.15);
    });

    it('says in one sentence that no broker answers', async () => {
      await expect(openLog({ brokers: ['127.0.0.1:1'] })).rejects.toMatchObject({
        kind: 'unavailable',
        message: expect.stringContaining('No Kafka broker of 127.0.0.1:1 answers'),
      });
    });
  });
});

/** Reads a log from its beginning to its present end. */
async function idsIn(log: KafkaLog, topics: readonly string[]): Promise<string[]> {
  const group = randomBytes(6).toString('hex');
  const found: LogRecord[] = [];
  const reader = await log.subscribe(group, topics, async (records) => void found.push(...records));
  await eventually(async () => sumLag(await log.lag(group)) === 0);
  await reader.close();
  found.sort((a, b) => a.partition - b.partition || a.offset - b.offset);
  return found.map(({ id }) => id);
}
