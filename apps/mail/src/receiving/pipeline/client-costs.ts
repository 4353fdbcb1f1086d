/** Milliseconds after which a cost's weight has decayed to about a third. */
const MEMORY_MS = 60_000;
const MAX_CLIENTS = 10_000;
/** Longest list, all of which a claim must scan. */
const MAX_EXPENSIVE = 100;

/** The recent cost of parsing each client's mail. */
export interface ClientCosts {
  note(client: string, milliseconds: number): void;
  /** Clients beyond their budget: their mail waits until no other is due. */
  expensive(): string[];
}

/**
 * @param budgetMs reading time within about a minute
 * @param now monotonic milliseconds
 */
export function createClientCosts(budgetMs: number, now: () => number): ClientCosts {
  const costs = new Map<string, { level: number; at: number }>();

  const levelOf = ({ level, at }: { level: number; at: number }): number =>
    level * Math.exp((at - now()) / MEMORY_MS);

  const forgetCheap = () => {
    for (const [client, cost] of costs) if (levelOf(cost) < budgetMs / 100) costs.delete(client);
    if (costs.size >= MAX_CLIENTS) costs.clear();
  };

  return {
    note(client, milliseconds) {
      const known = costs.get(client);
      if (known === undefined && costs.size >= MAX_CLIENTS) forgetCheap();
      const level = (known === undefined ? 0 : levelOf(known)) + milliseconds;
      costs.set(client, { level, at: now() });
    },
    expensive() {
      const found: [client: string, level: number][] = [];
      for (const [client, cost] of costs) {
        // A decayed cost only shrinks, so most need no exponential.
        if (cost.level <= budgetMs) continue;
        const level = levelOf(cost);
        if (level > budgetMs) found.push([client, level]);
      }
      return found
        .sort(([, a], [, b]) => b - a)
        .slice(0, MAX_EXPENSIVE)
        .map(([client]) => client);
    },
  };
}
