import { statfs } from 'node:fs/promises';
import { Gauge, type Registry } from 'prom-client';

/** What is measured at most every few minutes, however often it is asked for. */
const KEEP_MS = 180_000;

/** Room on the disk of a folder, asked of the file system with every scrape. */
export function registerDiskGauges(registry: Registry, folder: string): void {
  const registers = [registry];
  const size = new Gauge({
    name: 'dak_disk_size_bytes',
    help: 'Size of the data folder’s disk',
    registers,
  });
  new Gauge({
    name: 'dak_disk_free_bytes',
    help: 'Free space on the data folder’s disk',
    registers,
    async collect() {
      this.remove();
      size.remove();
      const found = await statfs(folder).catch(() => null);
      if (found === null) return;
      this.set(found.bavail * found.bsize);
      size.set(found.blocks * found.bsize);
    },
  });
}

/** Databases by registry: services of one process share the gauge. */
const sizes = new WeakMap<Registry, Map<string, () => Promise<number>>>();

/** The size of a service's database; `ask` measures it, and its failure leaves it out. */
export function registerDatabaseSize(
  registry: Registry,
  database: string,
  ask: () => Promise<number>,
): void {
  const known = sizes.get(registry) ?? new Map<string, () => Promise<number>>();
  known.set(database, keep(ask));
  if (sizes.has(registry)) return;
  sizes.set(registry, known);
  new Gauge({
    name: 'dak_database_size_bytes',
    help: 'Size of a database on disk',
    labelNames: ['database'],
    registers: [registry],
    async collect() {
      this.reset();
      for (const [label, measure] of known) {
        const bytes = await measure().catch(() => null);
        if (bytes !== null) this.set({ database: label }, bytes);
      }
    },
  });
}

/** What was found counts for some minutes; a failure does not. */
export function keep<T>(ask: () => Promise<T>, forMs = KEEP_MS): () => Promise<T> {
  let found: { value: Promise<T>; until: number } | null = null;
  return () => {
    if (found === null || found.until < performance.now()) {
      const value = ask();
      const mine = { value, until: performance.now() + forMs };
      found = mine;
      value.catch(() => {
        if (found === mine) found = null;
      });
    }
    return found.value;
  };
}
