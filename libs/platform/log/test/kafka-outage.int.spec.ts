import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWithKafka, startNativeKafka, type NativeKafka } from '@dak/testing/kafka';
import { eventually, timePasses } from '@dak/testing/waiting';
import { KafkaLog } from '../src/index';
import { CONTRACT_TOPICS } from './log.contract';
import { messagesFor, openLogDatabase, type LogDatabase } from './log-database';

const LEASE_MS = 900;

describeWithKafka(
  'KafkaLog without its brokers',
  () => {
    let folder: string;
    let broker: NativeKafka;
    let database: LogDatabase;
    let log: KafkaLog;
    let deaths: Error[];
    let seen: Set<string>;
    beforeEach(async () => {
      folder = mkdtempSync(join(tmpdir(), 'dak-kafka-'));
      [broker, database] = await Promise.all([startNativeKafka(folder), openLogDatabase()]);
      deaths = [];
      seen = new Set();
      log = await KafkaLog.open({
        brokers: [broker.brokers],
        pool: database.pool,
        topics: CONTRACT_TOPICS,
        leaseMs: LEASE_MS,
        onDead: (error) => deaths.push(error),
      });
      await log.subscribe('reader', ['notes.v1'], async (records) => {
        for (const { id } of records) seen.add(id);
      });
      await log.publish(messagesFor('notes.v1', ['a', 'b', 'c'], 1));
      await eventually(() => seen.size === 3);
    }, 60_000);
    afterEach(async () => {
      await log.close(1_000);
      await broker.stop();
      await database.drop();
      rmSync(folder, { recursive: true });
    }, 30_000);

    it('waits for brokers that are away, refuses to publish, and goes on', async () => {
      await expect(log.ping()).resolves.toBeUndefined();
      broker.kill();
      await expect(log.publish(messagesFor('notes.v1', ['a'], 1))).rejects.toMatchObject({
        kind: 'unavailable',
      });
      await expect(log.ping()).rejects.toMatchObject({ kind: 'unavailable' });
      await timePasses(4 * LEASE_MS);
      await broker.restart();
      await eventually(async () => {
        await log.publish(messagesFor('notes.v1', ['a'], 1)).catch(() => undefined);
        return seen.size > 3;
      });
      await expect(log.ping()).resolves.toBeUndefined();
      expect(deaths).toEqual([]);
    }, 90_000);

    it('is dead to its process when a broker takes its question and never answers', async () => {
      process.kill(broker.pid, 'SIGSTOP');
      try {
        await eventually(() => deaths.length > 0);
      } finally {
        process.kill(broker.pid, 'SIGCONT');
      }
      expect(deaths[0]!.message).toBe('Kafka has not answered a consumer for 2.7 s.');
    }, 60_000);
  },
  'native',
);
