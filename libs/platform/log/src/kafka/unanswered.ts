import type { RecordMetadata } from 'kafkajs';

/**
 * The partitions, as `topic/partition`, that a batch was meant for and no broker has given an offset.
 *
 * @param sent by the name of the topic at the brokers
 * @param answer may have holes: kafkajs leaves one for a broker that was asked in vain
 */
export function unanswered(
  sent: ReadonlyMap<string, readonly { partition: number }[]>,
  answer: readonly (RecordMetadata | null)[],
): string[] {
  const written = new Set(
    answer
      .filter((one) => one !== null && one.errorCode === 0 && Number(one.baseOffset ?? -1) >= 0)
      .map((one) => `${one!.topicName}/${one!.partition}`),
  );
  const wanted = [...sent].flatMap(([topic, placed]) =>
    placed.map(({ partition }) => `${topic}/${partition}`),
  );
  return [...new Set(wanted)].filter((place) => !written.has(place));
}
