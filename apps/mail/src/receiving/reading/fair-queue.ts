/** Items in queues by key that are taken from in turns. */
export class FairQueue<Item> {
  readonly #queues = new Map<string, Item[]>();
  #size = 0;

  constructor(private readonly keyOf: (item: Item) => string) {}

  get size(): number {
    return this.#size;
  }

  keys(): Iterable<string> {
    return this.#queues.keys();
  }

  push(item: Item): void {
    this.#size += 1;
    const key = this.keyOf(item);
    const queue = this.#queues.get(key);
    if (queue === undefined) this.#queues.set(key, [item]);
    else queue.push(item);
  }

  /** Before everything else of its key. */
  putBack(item: Item): void {
    this.#size += 1;
    const key = this.keyOf(item);
    this.#queues.set(key, [item, ...(this.#queues.get(key) ?? [])]);
  }

  /** The first item of the first key that may be taken; the key goes behind the others. */
  take(mayTake: (key: string) => boolean = () => true): Item | undefined {
    for (const [key, queue] of this.#queues) {
      if (!mayTake(key)) continue;
      const item = queue.shift()!;
      this.#queues.delete(key);
      if (queue.length > 0) this.#queues.set(key, queue);
      this.#size -= 1;
      return item;
    }
    return undefined;
  }

  /** @returns false when it is not there any longer */
  remove(item: Item): boolean {
    const key = this.keyOf(item);
    const queue = this.#queues.get(key);
    const at = queue?.indexOf(item) ?? -1;
    if (queue === undefined || at === -1) return false;
    queue.splice(at, 1);
    if (queue.length === 0) this.#queues.delete(key);
    this.#size -= 1;
    return true;
  }

  takeAll(): Item[] {
    const all = [...this.#queues.values()].flat();
    this.#queues.clear();
    this.#size = 0;
    return all;
  }
}
