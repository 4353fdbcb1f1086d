import { ConfigResourceTypes, ConfigSource, type Admin } from 'kafkajs';
import { ConflictError } from '@dak/kernel';

export interface WantedTopic {
  name: string;
  partitions: number;
}

export interface TopicSettings {
  /** Of each partition; absent = three, or as many as there are brokers. */
  replicationFactor?: number;
  keepDays: number;
}

const DAY_MS = 86_400_000;
/** An event is far below; a batch of one large event has to fit. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;

/**
 * Makes the topics that are missing and gives existing ones the retention that is wanted; what else
 * an operator has set stays.
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
    await admin.createTopics({
      waitForLeaders: true,
      topics: missing.map(({ name, partitions }) => ({
        topic: name,
        numPartitions: partitions,
        replicationFactor: replicationFactor ?? Math.min(3, brokers.length),
        configEntries: [
          { name: 'retention.ms', value: retention },
          { name: 'max.message.bytes', value: String(MAX_MESSAGE_BYTES) },
        ],
      })),
    });
  }
  const names = topics.map(({ name }) => name);
  const { topics: found } = await admin.fetchTopicMetadata({ topics: names });
  for (const { name, partitions } of topics) {
    const count = found.find((topic) => topic.name === name)?.partitions.length;
    if (count === partitions) continue;
    throw new ConflictError(
      `The topic ${name} has ${count ?? 'no'} partitions and cannot be given ${partitions}: order per key would break. Publish a new version of the topic instead.`,
      'partition_count',
    );
  }
  if (missing.length < topics.length) await keepRetention(admin, names, retention);
}

async function keepRetention(admin: Admin, names: string[], retention: string): Promise<void> {
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: names.map((name) => ({ type: ConfigResourceTypes.TOPIC, name })),
  });
  const changed = resources.filter(({ configEntries }) =>
    configEntries.some(
      ({ configName, configValue }) => configName === 'retention.ms' && configValue !== retention,
    ),
  );
  if (changed.length === 0) return;
  await admin.alterConfigs({
    validateOnly: false,
    resources: changed.map(({ resourceName, configEntries }) => ({
      type: ConfigResourceTypes.TOPIC,
      name: resourceName,
      // The request replaces all settings of a topic, so those that somebody made are repeated.
      configEntries: [
        ...configEntries
          .filter(({ configSource }) => configSource === ConfigSource.TOPIC_CONFIG)
          .filter(({ configName }) => configName !== 'retention.ms')
          .map(({ configName, configValue }) => ({ name: configName, value: configValue })),
        { name: 'retention.ms', value: retention },
      ],
    })),
  });
}
