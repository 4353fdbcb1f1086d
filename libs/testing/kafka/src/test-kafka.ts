import { spawnSync } from 'node:child_process';
import { freePort } from '@dak/platform/lifecycle';
import { joinRunServer, type RunServer } from '@dak/testing/database';
import { canRunKafka, startNativeKafka } from './native-kafka';

export type KafkaSource = 'given' | 'native' | 'container';

/** `DAK_TEST_KAFKA_BROKERS`, else Java and Maven, else Docker; null when there is none. */
export function kafkaSource(): KafkaSource | null {
  if (process.env['DAK_TEST_KAFKA_BROKERS']) return 'given';
  if (canRunKafka()) return 'native';
  return spawnSync('docker', ['info']).status === 0 ? 'container' : null;
}

/**
 * A suite against a real Kafka; `open` gives its brokers (a comma list), which test files share, so
 * that each takes its own prefix of topics. Without any Kafka the suite is left out and says so
 * aloud; under `CI`, where that would be a failure, it throws.
 *
 * @param needs 'native' for suites that kill their broker: it has to be a process of their own.
 */
export function describeWithKafka(
  title: string,
  suite: (open: () => Promise<string>) => void,
  needs: 'any' | 'native' = 'any',
): void {
  const source = needs === 'native' ? (canRunKafka() ? 'native' : null) : kafkaSource();
  if (source !== null) {
    describe(title, () => suite(() => openTestKafka(source)));
    return;
  }
  const sentence =
    needs === 'native'
      ? 'No Kafka for tests that kill it: install java and mvn.'
      : 'No Kafka for tests: set DAK_TEST_KAFKA_BROKERS, install java and mvn, or start Docker.';
  if (process.env['CI']) throw new Error(sentence);
  process.stderr.write(`\n*** ${sentence} NOT run: ${title} ***\n\n`);
  describe.skip(title, () => suite(() => Promise.reject(new Error(sentence))));
}

/** The brokers of a Kafka that all test runs of this checkout share while one of them lives. */
export async function openTestKafka(source: KafkaSource): Promise<string> {
  if (source === 'given') return process.env['DAK_TEST_KAFKA_BROKERS']!;
  const start = source === 'native' ? startShared : startContainer;
  const server = await joinRunServer('kafka', start);
  return server.details['brokers']!;
}

async function startShared(folder: string): Promise<RunServer> {
  const broker = await startNativeKafka(folder);
  return { pid: broker.pid, stopSignal: 'TERM', details: { brokers: broker.brokers } };
}

/** The image advertises an address before it knows the mapped port, so the port is fixed ahead. */
async function startContainer(): Promise<RunServer> {
  const { GenericContainer, Wait } = await import('testcontainers');
  const port = await freePort();
  const container = await new GenericContainer(
    process.env['DAK_TEST_KAFKA_IMAGE'] ?? 'apache/kafka-native:4.3.1',
  )
    .withExposedPorts({ container: 9092, host: port })
    .withEnvironment({
      KAFKA_NODE_ID: '1',
      KAFKA_PROCESS_ROLES: 'broker,controller',
      KAFKA_CONTROLLER_QUORUM_VOTERS: '1@127.0.0.1:9093',
      KAFKA_CONTROLLER_LISTENER_NAMES: 'CONTROLLER',
      KAFKA_LISTENERS: 'PLAINTEXT://0.0.0.0:9092,CONTROLLER://127.0.0.1:9093',
      KAFKA_ADVERTISED_LISTENERS: `PLAINTEXT://127.0.0.1:${port}`,
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
      KAFKA_INTER_BROKER_LISTENER_NAME: 'PLAINTEXT',
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
      KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: '1',
      KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: '1',
      KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
    })
    .withWaitStrategy(Wait.forLogMessage(/Kafka Server started/))
    .start();
  const brokers = `${container.getHost()}:${port}`;
  return { pid: process.pid, stopSignal: null, details: { brokers } };
}
