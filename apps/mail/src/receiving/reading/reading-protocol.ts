import type { MessageReading } from './message-reading';

/** Messages to read, packed into one buffer that is transferred: one hop for many small messages. */
export interface ReadingBatch {
  bytes: ArrayBuffer;
  /** Length of each message in `bytes`, in order. */
  lengths: number[];
  /** Which of them are to be read the cheap way: see `readPlainly`. */
  plain: boolean[];
}

/**
 * The next readings of a batch, in order; the bytes of attachments are transferred. A batch that takes
 * long is answered in parts, so that finished messages need not wait for the rest.
 */
export interface ReadingResults {
  readings: MessageReading[];
  /** What each took. */
  milliseconds: number[];
}

/** The worker's start parameters. */
export interface ReadingWorkerData {
  /** One Int32: the index in the batch of the message being read, so that the pool knows whom to blame for a hang or crash. */
  progress: SharedArrayBuffer;
}

/** Value of the progress cell while no message is being read. */
export const IDLE = -1;
