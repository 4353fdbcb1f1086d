import { ftruncateSync, writeSync } from 'node:fs';
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
  /** What an earlier process noted and may not have committed. */
  readonly inherited: readonly JournalEntry[];
  /**
   * Resolves when the entries are on disk. When it returns, they are with the operating system
   * already: a crash of this process alone loses none.
   */
  note(entries: readonly JournalEntry[]): Promise<void>;
  /** The database knows these; once it knows all, the file starts anew. */
  committed(count: number): void;
  close(): Promise<void>;
}

const FILE = 'deliveries.journal';
const RESTART_BYTES = 4 * 1024 * 1024;

/**
 * An append-only file of one JSON line per accepted recipient. An incomplete last line, torn by a
 * crash, is an acceptance nobody was told of and is left out.
 */
export async function openDeliveryJournal(folder: string): Promise<DeliveryJournal> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, FILE);
  const inherited = parseLines(await readFile(path, 'utf8').catch(emptyIfMissing));
  const file = await open(path, 'a', 0o600);
  let uncommitted = inherited.length;
  let bytes = (await file.stat()).size;

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
    note(entries) {
      const lines = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
      uncommitted += entries.length;
      // Synchronous on purpose: some 20 µs, against a window in which a crash sends mail twice.
      bytes += writeSync(file.fd, lines);
      return flush.submit(null);
    },
    committed(count) {
      uncommitted -= count;
      if (uncommitted <= 0 && bytes >= RESTART_BYTES) startAnew();
    },
    async close() {
      await flush.idle();
      if (uncommitted <= 0) startAnew();
      await file.close();
    },
  };
}

function parseLines(text: string): JournalEntry[] {
  const lines = text.split('\n');
  lines.pop();
  return lines.flatMap((line) => {
    try {
      return [JSON.parse(line) as JournalEntry];
    } catch {
      return [];
    }
  });
}

function emptyIfMissing(error: unknown): string {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
  throw error;
}
