import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWithKafka, startNativeCluster, type NativeCluster } from '@dak/testing/kafka';
import { eventually, slowPeer, timePasses } from '@dak/testing/waiting';
import { KafkaLog, type LogMessage } from '../src/index';
import { kafkaClient, type KafkaAddress } from '../src/kafka/kafka-connection';
import { openLogDatabase, type LogDatabase } from './log-database';

const TOPICS = { 'orders.v1': 12, 'notes.v1': 6 } as const;
const TOPIC_NAMES = Object.keys(TOPICS) as (keyof typeof TOPICS)[];
const ROUNDS = Number(process.env['DAK_CRASH_ROUNDS'] ?? 20);
const WRITERS = 4;
const KEYS_OF_A_WRITER = 16;
const ROUND_MS = 120_000;

describeWithKafka(
  'KafkaLog on three brokers that die one after the other',
  () => {
    let folder: string;
    let cluster: NativeCluster;
    let database: LogDatabase;
    let log: KafkaLog;
    const deaths: Error[] = [];
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'dak-kafka-cluster-'));
      [cluster, database] = await Promise.all([startNativeCluster(folder), openLogDatabase()]);
      log = await KafkaLog.open({
        ...addressOf(cluster),
        pool: database.pool,
        topics: TOPICS,
        onDead: (error) => deaths.push(error),
      });
    }, 120_000);
    afterAll(async () => {
      await log?.close(2_000);
      await cluster?.stop();
      await database?.drop();
      rmSync(folder, { recursive: true, force: true });
    }, 60_000);

    it(
      'tells every acknowledged event, none that was not sent, and keeps the order of each key',
      async () => {
        const read = new Ledger();
        await log.subscribe('reader', TOPIC_NAMES, async (records) => {
          for (const { key, headers } of records) read.note(key, Number(headers['n']));
        });
        const sent = new Ledger();
        const stop = new AbortController();
        const writers = Array.from({ length: WRITERS }, (_, writer) =>
          write(log, writer, sent, stop.signal),
        );
        for (let round = 0; round < ROUNDS; round += 1) {
          const node = cluster.nodes[round % cluster.nodes.length]!;
          node.kill();
          // Long enough for its partitions to get another leader while batches are on their way.
          await timePasses(2_500);
          await node.restart();
          await allInSync(addressOf(cluster));
        }
        stop.abort();
        const refused = (await Promise.all(writers)).reduce((sum, count) => sum + count, 0);
        // Naming the missing ones says more than their number.
        await eventually(() => read.size >= sent.size, 30_000).catch(() => undefined);
        process.stdout.write(
          `${ROUNDS} brokers killed: ${sent.size} acknowledged, ${refused} sendings refused and repeated, ${read.repeated} read twice\n`,
        );
        expect(sent.missingIn(read)).toEqual([]);
        expect(read.missingIn(sent)).toEqual([]);
        expect(read.disordered).toEqual([]);
        expect(deaths).toEqual([]);
      },
      30_000 + ROUNDS * ROUND_MS,
    );

    it('asks that all replicas but one have a batch', async () => {
      const admin = kafkaClient(addressOf(cluster)).admin();
      await admin.connect();
      const { resources } = await admin.describeConfigs({
        includeSynonyms: false,
        resources: TOPIC_NAMES.map((name) => ({ type: 2, name })),
      });
      await admin.disconnect();
      const values = resources.map(
        ({ configEntries }) =>
          configEntries.find(({ configName }) => configName === 'min.insync.replicas')?.configValue,
      );
      expect(values).toEqual(['2', '2']);
    });
  },
  'native',
);

/** What was sent or read of each key: numbers from 1 without a gap, in order. */
class Ledger {
  readonly disordered: string[] = [];
  repeated = 0;
  readonly #numbers = new Map<string, Set<number>>();

  get size(): number {
    return [...this.#numbers.values()].reduce((sum, numbers) => sum + numbers.size, 0);
  }

  note(key: string, n: number): void {
    let numbers = this.#numbers.get(key);
    if (numbers === undefined) this.#numbers.set(key, (numbers = new Set()));
    if (numbers.has(n)) {
      this.repeated += 1;
      return;
    }
    // The first time of each number has to come after that of the number before.
    if (n > 1 && !numbers.has(n - 1)) this.disordered.push(`${key}#${n}`);
    numbers.add(n);
  }

  missingIn(other: Ledger): string[] {
    return [...this.#numbers].flatMap(([key, numbers]) =>
      [...numbers]
        .filter((n) => other.#numbers.get(key)?.has(n) !== true)
        .map((n) => `${key}#${n}`),
    );
  }
}

/** Publishes until it is stopped, and repeats what was refused, as a relay does. @returns how often. */
async function write(
  log: KafkaLog,
  writer: number,
  sent: Ledger,
  signal: AbortSignal,
): Promise<number> {
  let refused = 0;
  for (let n = 1; !signal.aborted; n += 1) {
    const batch = Array.from({ length: KEYS_OF_A_WRITER }, (_, key) =>
      messageOf(TOPIC_NAMES[key % 2]!, `w${writer}-k${key}`, n),
    );
    while (
      !(await log.publish(batch).then(
        () => true,
        () => false,
      ))
    ) {
      refused += 1;
      await slowPeer(100);
    }
    for (const { key } of batch) sent.note(key, n);
    await slowPeer(20);
  }
  return refused;
}

function messageOf(topic: string, key: string, n: number): LogMessage {
  const id = `${key}#${n}`;
  return { id, topic, key, headers: { n: String(n) }, payload: Buffer.from(id) };
}

function addressOf({ brokers, caFile, credentials }: NativeCluster): KafkaAddress {
  return { brokers: brokers.split(','), tls: true, caFile, credentials };
}

/** Waits until a restarted broker has caught up: with two away nothing could be published. */
async function allInSync(address: KafkaAddress): Promise<void> {
  await eventually(async () => {
    const admin = kafkaClient(address).admin();
    try {
      await admin.connect();
      const { topics } = await admin.fetchTopicMetadata({ topics: [...TOPIC_NAMES] });
      return topics.every(({ partitions }) => partitions.every(({ isr }) => isr.length === 3));
    } catch {
      return false;
    } finally {
      await admin.disconnect().catch(() => undefined);
    }
  }, 60_000);
}
