import type pg from 'pg';
import { PipelinedQuery } from './pipelined-query';
import type { Answer, PreparedStatement } from './sql';
import { DAK_TYPES } from './timestamps';

interface Waiting {
  readonly statement: PreparedStatement;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The statements of one transaction, in the order they are asked. Those that are asked without
 * waiting for each other share a round trip, and the first of them brings `opening` along, which
 * begins the transaction. When one fails, so do all of its round trip and all that follow, with its
 * error: the transaction has failed, and its connection may soon be used by another.
 */
export class StatementQueue {
  #waiting: Waiting[] = [];
  #sending = false;
  #opened = false;
  #failure: Error | null = null;

  constructor(
    private readonly client: pg.PoolClient,
    private readonly opening: readonly PreparedStatement[],
    /** Settles as the answer does, or fails when the server turns out to be away. */
    private readonly guard: <T>(answer: Promise<T>) => Promise<T>,
  ) {}

  /** False as long as nothing was asked. */
  get hasBegun(): boolean {
    return this.#opened;
  }

  ask(statement: PreparedStatement): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== null) return reject(this.#failure);
      this.#waiting.push({ statement, resolve, reject });
      this.#sendSoon();
    });
  }

  #sendSoon(): void {
    if (this.#sending) return;
    this.#sending = true;
    // After all ready promises have run, so that their queries are included.
    process.nextTick(() => void this.#send());
  }

  async #send(): Promise<void> {
    const batch = this.#waiting;
    this.#waiting = [];
    const opening = this.#opened ? [] : this.opening;
    this.#opened = true;
    const query = new PipelinedQuery(
      [...opening, ...batch.map(({ statement }) => statement)],
      DAK_TYPES,
    );
    try {
      this.client.query(query);
      const answers = await this.guard(query.done);
      batch.forEach(({ resolve }, index) => resolve(answers[opening.length + index]!));
    } catch (error) {
      this.#failure = error as Error;
      for (const { reject } of [...batch, ...this.#waiting.splice(0)]) reject(error);
    }
    this.#sending = false;
    if (this.#waiting.length > 0) this.#sendSoon();
  }
}
