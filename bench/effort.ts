/** How much is measured: enough for a verdict, or only that everything works. */
export interface Effort {
  /** Interleaved repetitions of a load of messages, of which the median counts. */
  readonly rounds: number;
  /** Share of the messages of a full run. */
  readonly share: number;
  /** Interleaved repetitions of a load of reads: many short ones, so that noise of the machine hits all alike. */
  readonly slices: number;
  /** Seconds of a slice. */
  readonly sliceSeconds: number;
}

export const FULL: Effort = { rounds: 3, share: 1, slices: 5, sliceSeconds: 2.5 };
export const QUICK: Effort = { rounds: 1, share: 0.2, slices: 3, sliceSeconds: 1 };
