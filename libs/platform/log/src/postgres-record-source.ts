import type { Pool } from 'pg';
import { toLogRecord, type RecordRow } from './consumer-store';
import type { LogRecord } from './log';
import { prepared } from './prepared';
import type { RecentRecords } from './recent-records';
import type { GroupStart, ReadPosition, RecordSource } from './record-source';

const STARTS = `
  select topic, part, case when $2 then next_off else 0 end as off
    from log_partition
   where topic = any($1::text[])`;

const ENDS = `select topic, part, next_off from log_partition where topic = any($1::text[])`;

const FETCH = `
  select r.topic, r.part, r.off, r.event_id, r.key, r.headers, r.payload,
         (extract(epoch from r.published_at) * 1000)::float8 as published_ms
    from unnest($1::text[], $2::integer[], $3::bigint[], $4::float8[]) as p (topic, part, off, since)
   cross join lateral (
           select *
             from event_log e
            where e.topic = p.topic
              and e.part = p.part
              and e.off >= p.off
              and e.published_at >= to_timestamp(p.since / 1000)
            order by e.off
            limit $5) r
   order by r.topic, r.part, r.off`;

/** Reads `event_log`. */
export class PostgresRecordSource implements RecordSource {
  readonly #pool: Pool;
  readonly #recent: RecentRecords;
  /** The log's ends as last read; a partition behind its end needs no new look. */
  #ends = new Map<string, number>();

  /** @param recent shared by the groups of the process */
  constructor(pool: Pool, recent: RecentRecords) {
    this.#pool = pool;
    this.#recent = recent;
  }

  async starts(topics: readonly string[], from: 'earliest' | 'latest'): Promise<GroupStart[]> {
    const { rows } = await this.#pool.query<{ topic: string; part: number; off: string }>(STARTS, [
      topics,
      from === 'latest',
    ]);
    return rows.map(({ topic, part, off }) => ({ topic, part, offset: Number(off) }));
  }

  async read(
    positions: readonly ReadPosition[],
    limit: number,
  ): Promise<Map<string, LogRecord[] | number>> {
    const behind = (): ReadPosition[] =>
      positions.filter((position) => position.offset < this.#endOf(position));
    if (behind().length === 0) await this.#lookAtEnds(positions);
    const wanted = behind();
    if (wanted.length === 0) return new Map();
    const found = new Map<string, LogRecord[] | number>();
    for (const position of wanted) {
      const records = this.#recent.read(nameOf(position), position.offset, limit);
      if (records.length > 0) found.set(nameOf(position), records);
    }
    const missing = wanted.filter((position) => !found.has(nameOf(position)));
    for (const [name, records] of await this.#fetch(missing, limit)) {
      this.#recent.add(name, records);
      found.set(name, records);
    }
    for (const position of wanted) {
      const name = nameOf(position);
      // Retention dropped what lay between here and the end.
      if (!found.has(name)) found.set(name, this.#endOf(position));
    }
    return found;
  }

  forget(): void {}

  async close(): Promise<void> {}

  #endOf(position: ReadPosition): number {
    return this.#ends.get(nameOf(position)) ?? 0;
  }

  async #lookAtEnds(positions: readonly ReadPosition[]): Promise<void> {
    const { rows } = await this.#pool.query<{ topic: string; part: number; next_off: string }>(
      prepared(ENDS, [[...new Set(positions.map(({ topic }) => topic))]]),
    );
    for (const row of rows) this.#ends.set(nameOf(row), Number(row.next_off));
  }

  async #fetch(
    positions: readonly ReadPosition[],
    limit: number,
  ): Promise<Map<string, LogRecord[]>> {
    if (positions.length === 0) return new Map();
    const { rows } = await this.#pool.query<RecordRow>(
      prepared(FETCH, [
        positions.map(({ topic }) => topic),
        positions.map(({ part }) => part),
        positions.map(({ offset }) => offset),
        positions.map(({ since }) => since),
        limit,
      ]),
    );
    const found = new Map<string, LogRecord[]>();
    for (const row of rows) {
      const records = found.get(nameOf(row));
      if (records === undefined) found.set(nameOf(row), [toLogRecord(row)]);
      else records.push(toLogRecord(row));
    }
    return found;
  }
}

function nameOf({ topic, part }: { topic: string; part: number }): string {
  return `${topic}/${part}`;
}
