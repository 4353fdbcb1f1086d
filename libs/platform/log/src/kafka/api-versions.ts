/** What our requests are, by key of the protocol, and the versions in which kafkajs 2.2.4 speaks them. */
export const SPOKEN: Readonly<Record<number, { name: string; min: number; max: number }>> = {
  0: { name: 'Produce', min: 0, max: 7 },
  1: { name: 'Fetch', min: 0, max: 11 },
  2: { name: 'ListOffsets', min: 0, max: 3 },
  3: { name: 'Metadata', min: 0, max: 6 },
  8: { name: 'OffsetCommit', min: 0, max: 5 },
  10: { name: 'FindCoordinator', min: 0, max: 2 },
  19: { name: 'CreateTopics', min: 0, max: 3 },
  22: { name: 'InitProducerId', min: 0, max: 1 },
  32: { name: 'DescribeConfigs', min: 0, max: 2 },
  33: { name: 'AlterConfigs', min: 0, max: 1 },
};

type Versions = Readonly<Record<number, { minVersion: number; maxVersion: number }>>;

/**
 * kafkajs takes the lower of its own best version and the broker's without checking the broker's
 * lowest, so that a broker which dropped the old versions answers with an obscure error later on.
 * @returns the sentence to refuse with, or null.
 */
export function unspokenVersion(broker: Versions): string | null {
  for (const [key, { name, min, max }] of Object.entries(SPOKEN)) {
    const offered = broker[Number(key)];
    if (offered === undefined) {
      return `The Kafka brokers do not offer ${name}; use Kafka 2.1 or later.`;
    }
    if (offered.minVersion > max || offered.maxVersion < min) {
      return `The Kafka brokers speak ${name} in versions ${offered.minVersion} to ${offered.maxVersion}, Dak in ${min} to ${max}; use brokers of Kafka 2.1 to 4.x.`;
    }
  }
  return null;
}
