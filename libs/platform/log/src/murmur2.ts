const SEED = 0x9747b28c;
const M = 0x5bd1e995;

/** Kafka's murmur2 (`org.apache.kafka.common.utils.Utils.murmur2`), as a signed 32-bit integer. */
export function murmur2(data: Uint8Array): number {
  const { length } = data;
  const end = length & ~3;
  let h = SEED ^ length;
  for (let i = 0; i < end; i += 4) {
    let k = data[i]! | (data[i + 1]! << 8) | (data[i + 2]! << 16) | (data[i + 3]! << 24);
    k = Math.imul(k, M);
    k ^= k >>> 24;
    h = Math.imul(h, M) ^ Math.imul(k, M);
  }
  const rest = length & 3;
  if (rest >= 3) h ^= data[end + 2]! << 16;
  if (rest >= 2) h ^= data[end + 1]! << 8;
  if (rest >= 1) h = Math.imul(h ^ data[end]!, M);
  h ^= h >>> 13;
  h = Math.imul(h, M);
  return h ^ (h >>> 15);
}

/** Where Kafka's default partitioner puts a key, so that both drivers agree. */
export function partitionOf(key: string, partitions: number): number {
  return (murmur2(Buffer.from(key, 'utf8')) & 0x7fffffff) % partitions;
}
