/** Items in queues by key that are taken from in turns: groups of keys, and within a group its keys. */
export class FairQueue<Item> {
  readonly #groups = new Map<string, Map<string, Item[]>>();
  #size = 0;

  constructor(
    private readonly keyOf: (item: Item) => string,
    private readonly groupOf: (key: string) => string = () => '',
  ) {}

  get size(): number {
    return this.#size;
  }

  *keys(): Generator<string> {
    for (const queues of this.#groups.values()) yield* queues.keys();
  }

  push(item: Item): void {
    this.#size += 1;
    this.#queueOf(this.keyOf(item)).push(item);
  }

  /** Before everything else of its key. */
  putBack(item: Item): void {
    this.#size += 1;
    this.#queueOf(this.keyOf(item)).unshift(item);
  }

  /** The first item of the first key that may be taken; key and group go behind the others. */
  take(mayTake: (key: string) => boolean = () => true): Item | undefined {
    for (const [group, queues] of this.#groups) {
      for (const [key, queue] of queues) {
        if (!mayTake(key)) continue;
        const item = queue.shift()!;
        this.#size -= 1;
        queues.delete(key);
        if (queue.length > 0) queues.set(key, queue);
        this.#groups.delete(group);
        if (queues.size > 0) this.#groups.set(group, queues);
        return item;
      }
    }
    return undefined;
  }

  /** @returns false when it is not there any longer */
  remove(item: Item): boolean {
    const key = this.keyOf(item);
    const group = this.groupOf(key);
    const queues = this.#groups.get(group);
    const queue = queues?.get(key);
    const at = queue?.indexOf(item) ?? -1;
    if (queues === undefined || queue === undefined || at === -1) return false;
    queue.splice(at, 1);
    this.#size -= 1;
    if (queue.length === 0) queues.delete(key);
    if (queues.size === 0) this.#groups.delete(group);
    return true;
  }

  takeAll(): Item[] {
    const all = [...this.#groups.values()].flatMap((queues) => [...queues.values()].flat());
    this.#groups.clear();
    this.#size = 0;
    return all;
  }

  #queueOf(key: string): Item[] {
    const group = this.groupOf(key);
    let queues = this.#groups.get(group);
    if (queues === undefined) this.#groups.set(group, (queues = new Map<string, Item[]>()));
    let queue = queues.get(key);
    if (queue === undefined) queues.set(key, (queue = []));
    return queue;
  }
}
