import { appendFileSync, ftruncateSync } from 'node:fs';
import { mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createGroupCommit } from '@dak/platform/group-commit';

/** "The next hop has accepted this": what must not be forgotten before the database knows it. */
export interface JournalEntry {
  readonly organizationId: string;
  readonly deliveryId: string;
  readonly epoch: number;
  readonly transport: string;
  readonly smtpCode: number | null;
  readonly enhanced: string | null;
  readonly text: string;
}

export interface DeliveryJournal {
  /** Entries of an earlier process that may not be committed. */
  readonly inherited: readonly JournalEntry[];
  /**
   * Resolves when the entries are on disk. When it returns, they are with the operating system
   * already: a crash of this process alone loses none. Rejects when they cannot be written.
   */
  note(entries: readonly JournalEntry[]): Promise<void>;
  /** Marks these as committed; once all are, the file is truncated. */
  committed(count: number): void;
  close(): Promise<void>;
}

const FILE = 'deliveries.journal';
const RESTART_BYTES = 4 * 1024 * 1024;
/** After something was committed. */
const IDLE_MS = 30_000;

/**
 * An append-only file of one JSON line per accepted recipient. An incomplete last line, torn by a
 * crash, is an acceptance that was never reported, and is ignored.
 */
export async function openDeliveryJournal(folder: string): Promise<DeliveryJournal> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, FILE);
  const found = await readFile(path).catch(emptyIfMissing);
  let bytes = found.lastIndexOf('\n') + 1;
  const inherited = parseLines(found.toString('utf8', 0, bytes));
  const file = await open(path, 'a', 0o600);
  // Otherwise the first new line would be joined to the torn one.
  if (bytes < found.length) await file.truncate(bytes);
  let uncommitted = inherited.length;
  let idle: NodeJS.Timeout | null = null;

  const flush = createGroupCommit<null, void>(async (waiting) => {
    await file.datasync();
    return waiting.map(() => undefined);
  });
  const startAnew = () => {
    ftruncateSync(file.fd, 0);
    bytes = 0;
  };

  return {
    inherited,
    async note(entries) {
      const lines = Buffer.from(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
      uncommitted += entries.length;
      try {
        // Synchronous on purpose: some 20 µs, against a window in which a crash sends mail twice.
        appendFileSync(file.fd, lines);
      } catch (error) {
        // A full disk may have taken a part.
        ftruncateSync(file.fd, bytes);
        throw error;
      }
      bytes += lines.length;
      await flush.submit(null);
    },
    committed(count) {
      uncommitted -= count;
      if (uncommitted <= 0 && bytes >= RESTART_BYTES) startAnew();
      // What next hops say may name people: it does not stay until the next mail.
      idle ??= setTimeout(() => {
        idle = null;
        if (uncommitted <= 0) startAnew();
      }, IDLE_MS).unref();
    },
    async close() {
      if (idle !== null) clearTimeout(idle);
      await flush.idle();
      if (uncommitted <= 0) startAnew();
      await file.close();
    },
  };
}

function parseLines(text: string): JournalEntry[] {
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as JournalEntry];
    } catch {
      return [];
    }
  });
}

function emptyIfMissing(error: unknown): Buffer {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
  throw error;
}
