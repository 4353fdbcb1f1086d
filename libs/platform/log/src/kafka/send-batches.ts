import type { LogMessage } from '../log';
import { partitionOf } from '../murmur2';

export interface PlacedMessage {
  message: LogMessage;
  partition: number;
}

/** What a record costs besides its key, headers and payload; generous. */
const OVERHEAD_BYTES = 100;

/**
 * Where each message goes, cut into batches of which no partition gets more than `maxBytes`: a broker
 * refuses larger record batches. A message above the limit goes alone. Order is kept.
 */
export function sendBatches(
  messages: readonly LogMessage[],
  partitions: (topic: string) => number,
  maxBytes: number,
): PlacedMessage[][] {
  const batches: PlacedMessage[][] = [];
  let batch: PlacedMessage[] = [];
  let sizes = new Map<string, number>();
  for (const message of messages) {
    const partition = partitionOf(message.key, partitions(message.topic));
    const place = `${message.topic}/${partition}`;
    const size = sizeOf(message);
    const filled = sizes.get(place) ?? 0;
    if (filled > 0 && filled + size > maxBytes) {
      batches.push(batch);
      batch = [];
      sizes = new Map();
    }
    batch.push({ message, partition });
    sizes.set(place, (sizes.get(place) ?? 0) + size);
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}

function sizeOf({ id, key, headers, payload }: LogMessage): number {
  let size = OVERHEAD_BYTES + id.length + Buffer.byteLength(key) + payload.byteLength;
  for (const [name, value] of Object.entries(headers)) {
    size += name.length + Buffer.byteLength(value) + 4;
  }
  return size;
}
