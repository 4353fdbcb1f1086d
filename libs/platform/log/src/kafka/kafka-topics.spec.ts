import { KafkaJSProtocolError, type Admin } from 'kafkajs';
import { ensureTopics } from './kafka-topics';

const partitions = [{ replicas: [1] }, { replicas: [1] }];

/** A cluster whose answers about new topics are these errors, one after the other, then the topics. */
function clusterThatLags(errors: Error[]): { admin: Admin; asked: () => number } {
  let asked = 0;
  let created: { topic: string }[] = [];
  const admin = {
    listTopics: async () => [],
    describeCluster: async () => ({ brokers: [{}] }),
    createTopics: async ({ topics }: { topics: { topic: string }[] }) => (created = topics),
    fetchTopicMetadata: async () => {
      const error = errors[asked++];
      if (error) throw error;
      return { topics: created.map(({ topic }) => ({ name: topic, partitions })) };
    },
  };
  return { admin: admin as unknown as Admin, asked: () => asked };
}

const protocolError = (type: string, retriable: boolean): KafkaJSProtocolError =>
  new KafkaJSProtocolError(Object.assign(new Error(type), { type, retriable }));

describe('ensureTopics', () => {
  const topics = [{ name: 'orders.v1', partitions: 2 }];

  it('waits until the brokers know the topics and their leaders', async () => {
    const { admin, asked } = clusterThatLags([
      protocolError('UNKNOWN_TOPIC_OR_PARTITION', true),
      protocolError('LEADER_NOT_AVAILABLE', true),
    ]);
    await ensureTopics(admin, topics, { keepDays: 14 });
    expect(asked()).toBe(3);
  });

  it('gives up at once on what does not pass by itself', async () => {
    const { admin, asked } = clusterThatLags([protocolError('TOPIC_AUTHORIZATION_FAILED', false)]);
    await expect(ensureTopics(admin, topics, { keepDays: 14 })).rejects.toMatchObject({
      type: 'TOPIC_AUTHORIZATION_FAILED',
    });
    expect(asked()).toBe(1);
  });
});
