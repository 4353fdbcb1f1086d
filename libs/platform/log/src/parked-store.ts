import type { Pool, PoolClient } from 'pg';
import { toLogRecord, type PartitionClaim, type RecordRow } from './consumer-store';
import { FencedError, type LogRecord, type ParkedKey } from './log';
import { packBytes } from './packed-bytes';
import { prepared } from './prepared';
import { inTransaction } from './sql-transaction';

const HOLD_CLAIM = `
  select 1 from consumer_offset
   where group_name = $1 and topic = $2 and part = $3 and epoch = $4
     for share`;

const PARK_KEY = `
  insert into parked_key (group_name, topic, key, reason) values ($1, $2, $3, $4)
  on conflict do nothing`;

const PARK_RECORDS = `
  insert into parked_message
         (group_name, topic, key, part, off, event_id, headers, payload, published_at)
  select $1, $2, key, part, off, event_id, headers, substring($8::bytea from start for length),
         to_timestamp(published_ms / 1000)
    from unnest($3::text[], $4::integer[], $5::bigint[], $6::text[], $7::jsonb[],
                $9::integer[], $10::integer[], $11::float8[])
         as record (key, part, off, event_id, headers, start, length, published_ms)
  on conflict do nothing`;

const PARKED_OF = `
  select key from parked_key where group_name = $1 and topic = $2 and key = any($3::text[])`;

const ANY_PARKED = `select 1 from parked_key where group_name = $1 and topic = $2 limit 1`;

const CLAIM_REPLAY = `
  update parked_key
     set replay_until = now() + make_interval(secs => $4::float8 / 1000), replay_owner = $5
   where group_name = $1 and topic = $2 and key = $3 and replay_until < now()`;

const RENEW_REPLAY = `
  update parked_key
     set replay_until = now() + make_interval(secs => $4::float8 / 1000)
   where group_name = $1 and topic = $2 and key = $3 and replay_owner = $5`;

const OLDEST = `
  select topic, part, off, event_id, key, headers, payload,
         (extract(epoch from published_at) * 1000)::float8 as published_ms
    from parked_message
   where group_name = $1 and topic = $2 and key = $3
   order by part, off
   limit 1`;

const UNPARK = `
  delete from parked_key k
   where group_name = $1 and topic = $2 and key = $3
     and not exists (select 1
                       from parked_message m
                      where (m.group_name, m.topic, m.key) = (k.group_name, k.topic, k.key))`;

const NOTE_REPLAYED = `
  insert into parked_action (action, group_name, topic, key, event_ids)
  values ('replayed', $1, $2, $3, $4)`;

const COUNT_KEYS = `
  select group_name, count(*)::integer as keys
    from parked_key
   where group_name = any($1::text[])
   group by group_name`;

const LIST = `
  select k.topic, k.key, k.reason,
         (extract(epoch from k.parked_at) * 1000)::float8 as parked_ms,
         (select count(*)::integer from parked_message m
           where (m.group_name, m.topic, m.key) = (k.group_name, k.topic, k.key)) as records
    from parked_key k
   where k.group_name = $1
   order by k.parked_at`;

const MOST_UNPARKED = 1_000;

/** Keys that each of the groups has parked, by the names of the rows; groups without any are absent. */
export async function countParkedKeys(
  pool: Pool,
  groups: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await pool.query<{ group_name: string; keys: number }>(COUNT_KEYS, [groups]);
  return new Map(rows.map((row) => [row.group_name, row.keys]));
}

function nameOf({ topic, part, epoch }: PartitionClaim): string {
  return `${topic}/${part}/${epoch}`;
}

/** The keys a group cannot go on with, and their records in order. */
export class ParkedStore {
  readonly #pool: Pool;
  readonly #group: string;
  /** Claims of partitions none of whose keys is parked. */
  readonly #unparked = new Set<string>();

  constructor(pool: Pool, group: string) {
    this.#pool = pool;
    this.#group = group;
  }

  /** @throws FencedError when the partition has passed to another member. */
  async park(claim: PartitionClaim, records: readonly LogRecord[], reason: string): Promise<void> {
    const { topic, key } = records[0]!;
    this.#unparked.delete(nameOf(claim));
    await inTransaction(this.#pool, async (client) => {
      await this.#hold(client, claim);
      await client.query(PARK_KEY, [this.#group, topic, key, reason.slice(0, 2_000)]);
      await this.#insert(client, topic, records);
    });
  }

  /** Puts records of parked keys behind those already parked. @returns the keys that are parked. */
  async append(claim: PartitionClaim, records: readonly LogRecord[]): Promise<Set<string>> {
    if (await this.#hasNone(claim)) return new Set();
    const keys = [...new Set(records.map(({ key }) => key))];
    const values = [this.#group, claim.topic, keys];
    const seen = await this.#pool.query(prepared(PARKED_OF, values));
    if (seen.rowCount === 0) return new Set();
    return inTransaction(this.#pool, async (client) => {
      await this.#hold(client, claim);
      // Held against a replay that is about to find the list empty and to free the key.
      const { rows } = await client.query<{ key: string }>(`${PARKED_OF} for share`, values);
      const parked = new Set(rows.map(({ key }) => key));
      const waiting = records.filter(({ key }) => parked.has(key));
      if (waiting.length > 0) await this.#insert(client, claim.topic, waiting);
      return parked;
    });
  }

  /** False while another replay of the key runs, or when it is not parked. */
  async claimReplay(topic: string, key: string, leaseMs: number, owner: string): Promise<boolean> {
    const values = [this.#group, topic, key, leaseMs, owner];
    const { rowCount } = await this.#pool.query(CLAIM_REPLAY, values);
    return rowCount === 1;
  }

  /** False when the lease of the replay has passed to another one, or the key is not parked any more. */
  async renewReplay(topic: string, key: string, leaseMs: number, owner: string): Promise<boolean> {
    const values = [this.#group, topic, key, leaseMs, owner];
    const { rowCount } = await this.#pool.query(RENEW_REPLAY, values);
    return rowCount === 1;
  }

  async endReplay(topic: string, key: string, owner: string): Promise<void> {
    await this.#pool.query(
      `update parked_key set replay_until = '-infinity'
        where group_name = $1 and topic = $2 and key = $3 and replay_owner = $4`,
      [this.#group, topic, key, owner],
    );
  }

  async oldest(topic: string, key: string): Promise<LogRecord | null> {
    const { rows } = await this.#pool.query<RecordRow>(OLDEST, [this.#group, topic, key]);
    return rows[0] === undefined ? null : toLogRecord(rows[0]);
  }

  async remove({ topic, key, partition, offset }: LogRecord): Promise<void> {
    await this.#pool.query(
      `delete from parked_message
        where group_name = $1 and topic = $2 and key = $3 and part = $4 and off = $5`,
      [this.#group, topic, key, partition, offset],
    );
  }

  /**
   * Lets the key flow again if none of its records is parked any more, and writes down which were replayed. It may flow
   * already: expired events, and those of an erased organization, are removed with the key.
   */
  async unpark(topic: string, key: string, replayedIds: readonly string[]): Promise<boolean> {
    const values = [this.#group, topic, key];
    return inTransaction(this.#pool, async (client) => {
      // Two statements: the second sees rows a member appended while the first waited for its lock.
      const held = await client.query(
        `select 1 from parked_key where group_name = $1 and topic = $2 and key = $3 for update`,
        values,
      );
      const { rowCount } = await client.query(UNPARK, values);
      if (held.rowCount === 1 && rowCount !== 1) return false;
      await client.query(NOTE_REPLAYED, [...values, replayedIds]);
      return true;
    });
  }

  async count(topic: string, key: string): Promise<number> {
    const { rows } = await this.#pool.query<{ n: number }>(
      `select count(*)::integer as n from parked_message
        where group_name = $1 and topic = $2 and key = $3`,
      [this.#group, topic, key],
    );
    return rows[0]!.n;
  }

  async list(): Promise<ParkedKey[]> {
    const { rows } = await this.#pool.query<{
      topic: string;
      key: string;
      reason: string;
      parked_ms: number;
      records: number;
    }>(LIST, [this.#group]);
    return rows.map(({ topic, key, reason, parked_ms, records }) => ({
      group: this.#group,
      topic,
      key,
      reason,
      parkedAt: parked_ms,
      records,
    }));
  }

  /** Only who holds the partition parks keys of it: what was so when it was claimed stays so until then. */
  async #hasNone(claim: PartitionClaim): Promise<boolean> {
    const held = nameOf(claim);
    if (this.#unparked.has(held)) return true;
    const { rowCount } = await this.#pool.query(ANY_PARKED, [this.#group, claim.topic]);
    if (rowCount !== 0) return false;
    if (this.#unparked.size >= MOST_UNPARKED) this.#unparked.clear();
    this.#unparked.add(held);
    return true;
  }

  async #hold(client: PoolClient, { topic, part, epoch }: PartitionClaim): Promise<void> {
    const { rowCount } = await client.query(HOLD_CLAIM, [this.#group, topic, part, epoch]);
    if (rowCount !== 1) throw new FencedError(`${topic}/${part} has another owner`);
  }

  async #insert(client: PoolClient, topic: string, records: readonly LogRecord[]): Promise<void> {
    const { bytes, starts, lengths } = packBytes(records.map(({ payload }) => payload));
    await client.query(PARK_RECORDS, [
      this.#group,
      topic,
      records.map(({ key }) => key),
      records.map(({ partition }) => partition),
      records.map(({ offset }) => offset),
      records.map(({ id }) => id),
      records.map(({ headers }) => JSON.stringify(headers)),
      bytes,
      starts,
      lengths,
      records.map(({ publishedAt }) => publishedAt),
    ]);
  }
}
