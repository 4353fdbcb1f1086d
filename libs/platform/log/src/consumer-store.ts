import type { Pool } from 'pg';
import type { LogRecord } from './log';
import { prepared } from './prepared';
import type { GroupStart } from './record-source';

/** A partition as a member holds it. */
export interface PartitionClaim {
  topic: string;
  part: number;
  epoch: number;
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
  select $1, topic, part, off
    from unnest($2::text[], $3::integer[], $4::bigint[]) as start (topic, part, off)
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

const MOVE = `
  update consumer_offset o
     set off = goal.off, owner = null, epoch = o.epoch + 1, lease_until = '-infinity'
    from unnest($2::text[], $3::integer[], $4::bigint[]) as goal (topic, part, off)
   where o.group_name = $1 and o.topic = goal.topic and o.part = goal.part`;

const POSITIONS = `
  select topic, part, off from consumer_offset where group_name = $1 order by topic, part`;

const RELEASE = `
  update consumer_offset o
     set owner = null, lease_until = '-infinity'
    from unnest($2::text[], $3::integer[], $4::bigint[]) as held (topic, part, epoch)
   where o.group_name = $1 and o.topic = held.topic and o.part = held.part and o.epoch = held.epoch`;

/** The rows by which members of a group share its partitions; every change names an epoch. */
export class ConsumerStore {
  readonly #pool: Pool;
  readonly #group: string;

  constructor(pool: Pool, group: string) {
    this.#pool = pool;
    this.#group = group;
  }

  /** A group that already reads a partition goes on where it is. */
  async joinGroup(starts: readonly GroupStart[]): Promise<void> {
    await this.#pool.query(JOIN_GROUP, [
      this.#group,
      starts.map(({ topic }) => topic),
      starts.map(({ part }) => part),
      starts.map(({ offset }) => offset),
    ]);
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

  /** @returns `topic/part` of those still owned; the others were taken over. */
  async commit(claims: readonly (PartitionClaim & { offset: number })[]): Promise<Set<string>> {
    const { rows } = await this.#pool.query<{ topic: string; part: number }>(
      prepared(COMMIT, [
        this.#group,
        claims.map(({ topic }) => topic),
        claims.map(({ part }) => part),
        claims.map(({ epoch }) => epoch),
        claims.map(({ offset }) => offset),
      ]),
    );
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

  /** Moves the group; whoever owns one of the partitions is fenced. */
  async moveTo(goals: readonly GroupStart[]): Promise<void> {
    await this.#pool.query(MOVE, [
      this.#group,
      goals.map(({ topic }) => topic),
      goals.map(({ part }) => part),
      goals.map(({ offset }) => offset),
    ]);
  }

  /** The next offset of every partition that the group reads. */
  async positions(): Promise<GroupStart[]> {
    const { rows } = await this.#pool.query<{ topic: string; part: number; off: string }>(
      POSITIONS,
      [this.#group],
    );
    return rows.map(({ topic, part, off }) => ({ topic, part, offset: Number(off) }));
  }

  async leaveGroup(member: string): Promise<void> {
    await this.#pool.query(`delete from consumer_member where group_name = $1 and member = $2`, [
      this.#group,
      member,
    ]);
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
