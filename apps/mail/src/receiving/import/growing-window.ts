/**
 * A window on a stream that can be re-read: bytes are appended as they are requested
 * for, and dropped at the start when done with.
 */
export class GrowingWindow {
  #bytes = Buffer.alloc(0);
  #length = 0;
  #ended = false;
  readonly #source: AsyncIterator<Uint8Array>;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** The current contents; invalid after the next call of `more` or `drop`. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Adds the next chunk. False at the end of the stream. */
  async more(): Promise<boolean> {
    if (this.#ended) return false;
    const next = await this.#source.next();
    if (next.done === true) {
      this.#ended = true;
      return false;
    }
    const needed = this.#length + next.value.byteLength;
    if (needed > this.#bytes.length) {
      const grown = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2, 64 * 1024));
      this.#bytes.copy(grown, 0, 0, this.#length);
      this.#bytes = grown;
    }
    this.#bytes.set(next.value, this.#length);
    this.#length = needed;
    return true;
  }

  /** Holds at least `length` bytes when it resolves to true; false when the stream is shorter. */
  async atLeast(length: number): Promise<boolean> {
    while (this.#length < length) if (!(await this.more())) return false;
    return true;
  }

  drop(count: number): void {
    this.#bytes.copyWithin(0, count, this.#length);
    this.#length -= count;
  }
}
