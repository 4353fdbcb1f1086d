import { parentPort, workerData } from 'node:worker_threads';

import type { MessageReading } from './message-reading';
import {
  IDLE,
  type ReadingBatch,
  type ReadingResults,
  type ReadingWorkerData,
} from './reading-protocol';

/** Answers the batches of a `ReadingPool` inside a worker thread. */
export function serveReadings(read: (raw: Uint8Array) => MessageReading): void {
  const port = parentPort;
  if (port === null)
    throw new Error('A reading worker runs inside a worker thread of a ReadingPool.');
  const progress = new Int32Array((workerData as ReadingWorkerData).progress);
  port.on('message', (batch: ReadingBatch) => {
    const readings: MessageReading[] = [];
    const transfer: ArrayBuffer[] = [];
    let offset = 0;
    for (const [index, length] of batch.lengths.entries()) {
      Atomics.store(progress, 0, index);
      const reading = read(new Uint8Array(batch.bytes, offset, length));
      offset += length;
      for (const attachment of reading.attachments) {
        // A view would drag the buffer of the whole batch along.
        const content = new Uint8Array(attachment.content);
        attachment.content = content;
        transfer.push(content.buffer);
      }
      readings.push(reading);
    }
    Atomics.store(progress, 0, IDLE);
    port.postMessage({ readings } satisfies ReadingResults, transfer);
  });
}
