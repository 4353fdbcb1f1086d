const MOST = 1_000;

/** Work done after the response, so that its timing does not reveal whether there was anything to do. */
export class WorkAfterAnswers {
  private readonly pending = new Set<Promise<void>>();

  constructor(private readonly onError: (error: unknown) => void) {}

  /** Begins in a later turn of the event loop; refused, with a report, when the database is far behind. */
  add(work: () => Promise<unknown>): void {
    if (this.pending.size >= MOST) {
      this.onError(new Error(`${MOST} pieces of work wait already`));
      return;
    }
    const running = new Promise<void>((resolve) => {
      setImmediate(() => {
        work().then(
          () => resolve(),
          (error: unknown) => {
            this.onError(error);
            resolve();
          },
        );
      });
    }).then(() => {
      this.pending.delete(running);
    });
    this.pending.add(running);
  }

  /** Resolves once all that was added before has ended; also before its results are read. */
  async flush(): Promise<void> {
    await Promise.all(this.pending);
  }
}
