import { parentPort, workerData } from 'node:worker_threads';

import type { MessageReading } from './message-reading';
import {
  IDLE,
  type ReadingBatch,
  type ReadingResults,
  type ReadingWorkerData,
} from './reading-protocol';

/** Milliseconds of parsing after which finished messages are handed over before the rest of the batch. */
const PART_MS = 100;

export type ReadInWorker = (raw: Uint8Array, isPlain: boolean) => MessageReading;

/** Answers the batches of a `ReadingPool` inside a worker thread. */
export function serveReadings(read: ReadInWorker): void {
  const port = parentPort;
  if (port === null)
    throw new Error('A reading worker runs inside a worker thread of a ReadingPool.');
  const progress = new Int32Array((workerData as ReadingWorkerData).progress);
  port.on('message', (batch: ReadingBatch) => {
    let part: ReadingResults = { readings: [], milliseconds: [] };
    let partBegan = performance.now();
    const handOver = () => {
      const transfer = part.readings.flatMap(({ attachments }) =>
        attachments.map((attachment) => {
          // A view would drag the buffer of the whole batch along.
          const content = new Uint8Array(attachment.content);
          attachment.content = content;
          return content.buffer;
        }),
      );
      port.postMessage(part, transfer);
      part = { readings: [], milliseconds: [] };
    };
    let offset = 0;
    for (const [index, length] of batch.lengths.entries()) {
      Atomics.store(progress, 0, index);
      const began = performance.now();
      part.readings.push(
        read(new Uint8Array(batch.bytes, offset, length), batch.plain[index] === true),
      );
      const ended = performance.now();
      part.milliseconds.push(ended - began);
      offset += length;
      if (ended - partBegan > PART_MS && index + 1 < batch.lengths.length) {
        handOver();
        partBegan = performance.now();
      }
    }
    Atomics.store(progress, 0, IDLE);
    handOver();
  });
}
