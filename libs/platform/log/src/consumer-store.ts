import type { Pool } from 'pg';
import type { LogRecord } from './log';

/** A partition as a member holds it. */
export interface PartitionClaim {
  topic: string;
  part: number;
  epoch: number;
}

export interface FetchPosition {
  topic: string;
  part: number;
  offset: number;
  /** No record at or after `offset` is older, in milliseconds since the epoch; prunes old days. */
  since: number;
}

/** A record as selected from `event_log` or `parked_message`. */
export interface RecordRow {
  topic: string;
  part: number;
  off: string;
  event_id: string;
  key: string;
  headers: Record<string, string>;
  payload: Buffer;
  published_ms: number;
}

const JOIN_GROUP = `
  insert into consumer_offset (group_name, topic, part, off)
  select $1, topic, part, case when $3 then next_off else 0 end
    from log_partition
   where topic = any($2::text[])
  on conflict do nothing`;

const BEAT = `
  with expired as (
    delete from consumer_member where group_name = $1 and lease_until < now() - interval '1 minute'
  )
  insert into consumer_member (group_name, member, lease_until)
  values ($1, $2, now() + make_interval(secs => $3::float8 / 1000))
  on conflict (group_name, member) do update set lease_until = excluded.lease_until`;

const LIVE_MEMBERS = `
  select member from consumer_member where group_name = $1 and lease_until > now() order by member`;

const RENEW = `
  update consumer_offset
     set lease_until = now() + make_interval(secs => $3::float8 / 1000)
   where group_name = $1 and owner = $2
  returning topic, part, epoch`;

const CLAIM = `
  update consumer_offset
     set owner       = $2,
         epoch       = epoch + 1,
         lease_until = now() + make_interval(secs => $4::float8 / 1000)
   where (group_name, topic, part) in (
           select group_name, topic, part
             from consumer_offset
            where group_name = $1
              and topic = any($3::text[])
              and (owner is null or lease_until < now())
            order by topic, part
            limit $5
              for update skip locked)
  returning topic, part, epoch, off`;

const COMMIT = `
  update consumer_offset o
     set off = done.off
    from unnest($2::text[], $3::integer[], $4::bigint[], $5::bigint[]) as done (topic, part, epoch, off)
   where o.group_name = $1 and o.topic = done.topic and o.part = done.part and o.epoch = done.epoch
  returning o.topic, o.part`;

const RELEASE = `
  update consumer_offset o
     set owner = null, lease_until = '-infinity'
    from unnest($2::text[], $3::integer[], $4::bigint[]) as held (topic, part, epoch)
   where o.group_name = $1 and o.topic = held.topic and o.part = held.part and o.epoch = held.epoch`;

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

/** The rows by which members of a group share its partitions; every change names an epoch. */
export class ConsumerStore {
  readonly #pool: Pool;
  readonly #group: string;

  constructor(pool: Pool, group: string) {
    this.#pool = pool;
    this.#group = group;
  }

  async joinGroup(topics: readonly string[], from: 'earliest' | 'latest'): Promise<void> {
    await this.#pool.query(JOIN_GROUP, [this.#group, topics, from === 'latest']);
  }

  /** Says that the member lives; the ids of all living members, sorted. */
  async beat(member: string, leaseMs: number): Promise<string[]> {
    await this.#pool.query(BEAT, [this.#group, member, leaseMs]);
    const { rows } = await this.#pool.query<{ member: string }>(LIVE_MEMBERS, [this.#group]);
    return rows.map((row) => row.member);
  }

  /** The partitions that are still the member's, with another lease. */
  async renew(member: string, leaseMs: number): Promise<PartitionClaim[]> {
    const { rows } = await this.#pool.query<{ topic: string; part: number; epoch: string }>(RENEW, [
      this.#group,
      member,
      leaseMs,
    ]);
    return rows.map(({ topic, part, epoch }) => ({ topic, part, epoch: Number(epoch) }));
  }

  async claim(
    member: string,
    topics: readonly string[],
    leaseMs: number,
    limit: number,
  ): Promise<(PartitionClaim & { offset: number })[]> {
    const { rows } = await this.#pool.query<{
      topic: string;
      part: number;
      epoch: string;
      off: string;
    }>(CLAIM, [this.#group, member, topics, leaseMs, limit]);
    return rows.map(({ topic, part, epoch, off }) => ({
      topic,
      part,
      epoch: Number(epoch),
      offset: Number(off),
    }));
  }

  /** @returns `topic/part` of those that were still ours; the others have passed to somebody else. */
  async commit(claims: readonly (PartitionClaim & { offset: number })[]): Promise<Set<string>> {
    const { rows } = await this.#pool.query<{ topic: string; part: number }>(COMMIT, [
      this.#group,
      claims.map(({ topic }) => topic),
      claims.map(({ part }) => part),
      claims.map(({ epoch }) => epoch),
      claims.map(({ offset }) => offset),
    ]);
    return new Set(rows.map(({ topic, part }) => `${topic}/${part}`));
  }

  async release(claims: readonly PartitionClaim[]): Promise<void> {
    await this.#pool.query(RELEASE, [
      this.#group,
      claims.map(({ topic }) => topic),
      claims.map(({ part }) => part),
      claims.map(({ epoch }) => epoch),
    ]);
  }

  async leaveGroup(member: string): Promise<void> {
    await this.#pool.query(`delete from consumer_member where group_name = $1 and member = $2`, [
      this.#group,
      member,
    ]);
  }

  /** The offset after the last record, by `topic/part`. */
  async ends(topics: readonly string[]): Promise<Map<string, number>> {
    const { rows } = await this.#pool.query<{ topic: string; part: number; next_off: string }>(
      ENDS,
      [topics],
    );
    return new Map(rows.map(({ topic, part, next_off }) => [`${topic}/${part}`, Number(next_off)]));
  }

  /** Up to `limit` records per partition in order, by `topic/part`. */
  async fetch(
    positions: readonly FetchPosition[],
    limit: number,
  ): Promise<Map<string, LogRecord[]>> {
    const { rows } = await this.#pool.query<RecordRow>(FETCH, [
      positions.map(({ topic }) => topic),
      positions.map(({ part }) => part),
      positions.map(({ offset }) => offset),
      positions.map(({ since }) => since),
      limit,
    ]);
    const found = new Map<string, LogRecord[]>();
    for (const row of rows) {
      const name = `${row.topic}/${row.part}`;
      const records = found.get(name);
      if (records === undefined) found.set(name, [toLogRecord(row)]);
      else records.push(toLogRecord(row));
    }
    return found;
  }
}

export function toLogRecord(row: RecordRow): LogRecord {
  return {
    id: row.event_id,
    topic: row.topic,
    partition: row.part,
    offset: Number(row.off),
    key: row.key,
    headers: row.headers,
    payload: row.payload,
    publishedAt: row.published_ms,
  };
}
