import { setTimeout as delay } from 'node:timers/promises';
import {
  ConfigResourceTypes,
  ConfigSource,
  KafkaJSProtocolError,
  type Admin,
  type ITopicMetadata,
} from 'kafkajs';
import { ConflictError } from '@dak/kernel';

export interface WantedTopic {
  name: string;
  partitions: number;
}

export interface TopicSettings {
  /** Replicas of each partition; absent = three, or as many as there are brokers. */
  replicationFactor?: number;
  keepDays: number;
}

const DAY_MS = 86_400_000;
const KNOWN_WITHIN_MS = 30_000;
const RECHECK_MS = 100;
/** An event is far below; a batch of one large event has to fit. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;

/**
 * Makes the topics that are missing and gives existing ones the retention and the least number of
 * replicas that are wanted; what else an operator has set stays.
 * @throws ConflictError when a topic exists with another number of partitions.
 */
export async function ensureTopics(
  admin: Admin,
  topics: readonly WantedTopic[],
  { replicationFactor, keepDays }: TopicSettings,
): Promise<void> {
  const existing = new Set(await admin.listTopics());
  const missing = topics.filter(({ name }) => !existing.has(name));
  const retention = String(keepDays * DAY_MS);
  if (missing.length > 0) {
    const { brokers } = await admin.describeCluster();
    const factor = replicationFactor ?? Math.min(3, brokers.length);
    await admin.createTopics({
      // Its wait gives up when a broker has not yet heard of the topic; `described` waits for that too.
      waitForLeaders: false,
      topics: missing.map(({ name, partitions }) => ({
        topic: name,
        numPartitions: partitions,
        replicationFactor: factor,
        configEntries: [
          { name: 'retention.ms', value: retention },
          { name: 'max.message.bytes', value: String(MAX_MESSAGE_BYTES) },
          { name: 'min.insync.replicas', value: insync(factor) },
        ],
      })),
    });
  }
  const names = topics.map(({ name }) => name);
  const found = await described(admin, names);
  for (const { name, partitions } of topics) {
    const count = found.find((topic) => topic.name === name)?.partitions.length;
    if (count === partitions) continue;
    throw new ConflictError(
      `The topic ${name} has ${count ?? 'no'} partitions and cannot be given ${partitions}: order per key would break. Publish a new version of the topic instead.`,
      'partition_count',
    );
  }
  const older = names.filter((name) => existing.has(name));
  if (older.length === 0) return;
  const wanted = found
    .filter(({ name }) => existing.has(name))
    .map(({ name, partitions }) => ({
      name,
      retention,
      insync: insync(Math.min(...partitions.map(({ replicas }) => replicas.length))),
    }));
  await keepSettings(admin, wanted);
}

/**
 * The topics with their partitions. The controller answers a creation before every broker knows the
 * topic and before each partition has its leader, so these are asked again for up to 30 s.
 */
async function described(admin: Admin, names: string[]): Promise<ITopicMetadata[]> {
  const deadline = Date.now() + KNOWN_WITHIN_MS;
  for (;;) {
    try {
      return (await admin.fetchTopicMetadata({ topics: names })).topics;
    } catch (error) {
      const settles = error instanceof KafkaJSProtocolError && error.retriable;
      if (!settles || Date.now() >= deadline) throw error;
      await delay(RECHECK_MS);
    }
  }
}

/**
 * Replicas that must have a batch before it counts as published. With all but one, a broker may be down, and
 * what was acknowledged survives the loss of another; with fewer, one death can take acknowledged events.
 */
function insync(replicationFactor: number): string {
  return String(Math.max(1, replicationFactor - 1));
}

async function keepSettings(
  admin: Admin,
  wanted: readonly { name: string; retention: string; insync: string }[],
): Promise<void> {
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: wanted.map(({ name }) => ({ type: ConfigResourceTypes.TOPIC, name })),
  });
  const changes = resources.flatMap(({ resourceName, configEntries }) => {
    const { retention, insync: replicas } = wanted.find(({ name }) => name === resourceName)!;
    const set = new Map(
      configEntries
        .filter(({ configSource }) => configSource === ConfigSource.TOPIC_CONFIG)
        .map(({ configName, configValue }) => [configName, configValue]),
    );
    const current = new Map(configEntries.map((entry) => [entry.configName, entry.configValue]));
    const missing: [string, string][] = [];
    if (current.get('retention.ms') !== retention) missing.push(['retention.ms', retention]);
    // What an operator has set on the topic stays; what only comes from the brokers' default does not.
    if (!set.has('min.insync.replicas') && current.get('min.insync.replicas') !== replicas) {
      missing.push(['min.insync.replicas', replicas]);
    }
    // The request replaces all settings of a topic, so existing ones are repeated.
    return missing.length === 0 ? [] : [{ name: resourceName, settings: [...set, ...missing] }];
  });
  if (changes.length === 0) return;
  await admin.alterConfigs({
    validateOnly: false,
    resources: changes.map(({ name, settings }) => ({
      type: ConfigResourceTypes.TOPIC,
      name,
      configEntries: [...new Map(settings)].map(([key, value]) => ({ name: key, value })),
    })),
  });
}
