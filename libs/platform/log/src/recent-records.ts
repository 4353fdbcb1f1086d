import type { LogRecord } from './log';

/** Limits per partition. */
const MOST_RECORDS = 256;
const MOST_BYTES = 256 * 1024;

interface Recent {
  /** In order. */
  records: LogRecord[];
  bytes: number;
}

/**
 * The latest records of each partition, as one group has read them: the other groups of the process
 * come for the same ones a moment later. Records never change, so that none can be out of date.
 */
export class RecentRecords {
  readonly #partitions = new Map<string, Recent>();

  /** Up to `limit` records from `offset` on; none unless the first of them is here. */
  read(partition: string, offset: number, limit: number): LogRecord[] {
    const records = this.#partitions.get(partition)?.records ?? [];
    const at = offset - (records[0]?.offset ?? 0);
    // Elsewhere where retention cut a hole.
    return records[at]?.offset === offset ? records.slice(at, at + limit) : [];
  }

  /** @param records read in one piece; older ones than those that are here change nothing */
  add(partition: string, records: readonly LogRecord[]): void {
    const recent = this.#partitions.get(partition) ?? { records: [], bytes: 0 };
    const next = (recent.records.at(-1)?.offset ?? -1) + 1;
    const news = records.filter(({ offset }) => offset >= next);
    if (news.length === 0) return;
    const follows = news[0]!.offset === next;
    const kept = follows ? [...recent.records, ...news] : news;
    let bytes = (follows ? recent.bytes : 0) + sum(news);
    let from = 0;
    while (kept.length - from > MOST_RECORDS || bytes > MOST_BYTES) {
      bytes -= kept[from]!.payload.byteLength;
      from += 1;
    }
    this.#partitions.set(partition, { records: kept.slice(from), bytes });
  }
}

function sum(records: readonly LogRecord[]): number {
  return records.reduce((bytes, { payload }) => bytes + payload.byteLength, 0);
}
