/** Sets of strings that can only be joined (union-find with path halving). */
export class DisjointSets {
  readonly #parents = new Map<string, string>();

  /** The representative of the set that holds `member`, which becomes a new set if unknown. */
  find(member: string): string {
    let current = member;
    for (;;) {
      const parent = this.#parents.get(current);
      if (parent === undefined) {
        this.#parents.set(current, current);
        return current;
      }
      if (parent === current) return current;
      const grandparent = this.#parents.get(parent) ?? parent;
      this.#parents.set(current, grandparent);
      current = grandparent;
    }
  }

  join(a: string, b: string): void {
    const [first, second] = [this.find(a), this.find(b)];
    if (first !== second) this.#parents.set(second, first);
  }

  /** `members` by set, in order of their first member. */
  groups(members: Iterable<string>): string[][] {
    return [...Map.groupBy(members, (member) => this.find(member)).values()];
  }
}
