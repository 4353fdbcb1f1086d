import type { Pool, PoolClient } from 'pg';
import { appendRecords } from './append-records';
import { FencedError, type OutboxRow, type OwnedShard, type RelayChannel } from './log';
import { OUTBOX_SHARDS } from './outbox';

export interface PostgresRelayChannelOptions {
  pool: Pool;
  topics: ReadonlyMap<string, number>;
  transact: <T>(work: (client: PoolClient) => Promise<T>) => Promise<T>;
  /** The service whose outbox it is. */
  source: string;
  /** This process. */
  owner: string;
  leaseMs: number;
  onPublished: () => void;
}

const MAKE_SHARDS = `
  insert into log_shard_lease (source, shard)
  select $1, shard from generate_series(0, $2::integer - 1) as shard
  on conflict do nothing`;

const RENEW = `
  update log_shard_lease
     set owner       = $2,
         epoch       = case when owner = $2 and not $4 then epoch else epoch + 1 end,
         lease_until = now() + make_interval(secs => $3::float8 / 1000)
   where source = $1 and (owner = $2 or lease_until < now())
  returning shard, epoch, last_seqs`;

const LOCK_SHARDS = `
  select shard, epoch
    from log_shard_lease
   where source = $1 and shard = any($2::smallint[])
   order by shard
     for update`;

const REMEMBER = `
  update log_shard_lease lease
     set last_seqs = latest.seqs::bigint[]
    from unnest($2::smallint[], $3::text[]) as latest (shard, seqs)
   where lease.source = $1 and lease.shard = latest.shard`;

const RELEASE = `
  update log_shard_lease
     set owner = null, lease_until = '-infinity'
   where source = $1 and owner = $2`;

/**
 * Shards by lease rows with epochs. A publication locks its shards, checks their epochs, appends and
 * notes the outbox rows in one transaction: none is published twice, and a former owner not at all.
 */
export class PostgresRelayChannel implements RelayChannel {
  readonly #options: PostgresRelayChannelOptions;
  readonly #epochs = new Map<number, number>();
  #shardsExist = false;

  constructor(options: PostgresRelayChannelOptions) {
    this.#options = options;
  }

  async renew(uncertain: boolean): Promise<OwnedShard[]> {
    const { pool, source, owner, leaseMs } = this.#options;
    if (!this.#shardsExist) {
      await pool.query(MAKE_SHARDS, [source, OUTBOX_SHARDS]);
      this.#shardsExist = true;
    }
    const { rows } = await pool.query<{ shard: number; epoch: string; last_seqs: string[] }>(
      RENEW,
      [source, owner, leaseMs, uncertain],
    );
    const owned = rows.map((row) => ({
      shard: row.shard,
      acquired: this.#epochs.get(row.shard) !== Number(row.epoch),
      publishedSeqs: row.last_seqs.map(Number),
    }));
    this.#epochs.clear();
    for (const row of rows) this.#epochs.set(row.shard, Number(row.epoch));
    return owned;
  }

  async publish(rows: readonly OutboxRow[]): Promise<void> {
    const { transact, source, topics, onPublished } = this.#options;
    const seqs = new Map<number, number[]>();
    for (const row of rows) {
      const ofShard = seqs.get(row.shard);
      if (ofShard === undefined) seqs.set(row.shard, [row.seq]);
      else ofShard.push(row.seq);
    }
    await transact(async (client) => {
      const locked = await client.query<{ shard: number; epoch: string }>(LOCK_SHARDS, [
        source,
        [...seqs.keys()],
      ]);
      const epochs = new Map(locked.rows.map((row) => [row.shard, Number(row.epoch)]));
      for (const shard of seqs.keys()) {
        const mine = this.#epochs.get(shard);
        if (mine === undefined || epochs.get(shard) !== mine) {
          throw new FencedError(`shard ${shard} of ${source} has another owner`);
        }
      }
      await appendRecords(client, topics, rows);
      await client.query(REMEMBER, [
        source,
        [...seqs.keys()],
        [...seqs.values()].map((list) => `{${list.join(',')}}`),
      ]);
    });
    onPublished();
  }

  async release(): Promise<void> {
    this.#epochs.clear();
    await this.#options.pool.query(RELEASE, [this.#options.source, this.#options.owner]);
  }
}
