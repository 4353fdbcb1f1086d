import { SPOKEN, unspokenVersion } from './api-versions';

type Offer = Record<number, { minVersion: number; maxVersion: number }>;

const offer = (changes: Offer = {}): Offer => ({
  ...Object.fromEntries(
    Object.entries(SPOKEN).map(([key, { max }]) => [key, { minVersion: max, maxVersion: max + 5 }]),
  ),
  ...changes,
});

describe('unspokenVersion', () => {
  it('accepts brokers that share one version of everything', () => {
    expect(unspokenVersion(offer())).toBeNull();
  });

  it('names the request and both ranges when a broker has dropped our versions', () => {
    expect(unspokenVersion(offer({ 1: { minVersion: 12, maxVersion: 18 } }))).toBe(
      'The Kafka brokers speak Fetch in versions 12 to 18, Dak in 0 to 11; use brokers of Kafka 2.1 to 4.x.',
    );
  });

  it('names a request that a broker does not have', () => {
    const { 22: _, ...old } = offer();
    expect(unspokenVersion(old)).toBe(
      'The Kafka brokers do not offer InitProducerId; use Kafka 2.1 or later.',
    );
  });
});
