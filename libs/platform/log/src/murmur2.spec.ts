import { murmur2, partitionOf } from './murmur2';

describe('murmur2', () => {
  // Vectors of org.apache.kafka.common.utils.UtilsTest.testMurmur2.
  it.each([
    ['21', -973932308],
    ['foobar', -790332482],
    ['a-little-bit-long-string', -985981536],
    ['a-little-bit-longer-string', -1486304829],
    ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
    ['abc', 479470107],
  ])('hashes %j as Kafka does', (text, expected) => {
    expect(murmur2(Buffer.from(text))).toBe(expected);
  });

  it('puts a key into a partition as the default partitioner does', () => {
    expect(partitionOf('foobar', 12)).toBe((-790332482 & 0x7fffffff) % 12);
    expect(partitionOf('', 6)).toBeGreaterThanOrEqual(0);
  });
});
