import type { Pool, PoolClient } from 'pg';
import { FencedError, type OwnedShard } from './log';
import { OUTBOX_SHARDS } from './outbox';
import { prepared } from './prepared';

export interface ShardLeasesOptions {
  pool: Pool;
  /** The service whose outbox it is. */
  source: string;
  /** This process. */
  owner: string;
  leaseMs: number;
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

const READ_EPOCHS = `
  select shard, epoch
    from log_shard_lease
   where source = $1 and shard = any($2::smallint[])
   order by shard`;

const HOLD_EPOCHS = `${READ_EPOCHS} for update`;

const RELEASE = `
  update log_shard_lease
     set owner = null, lease_until = '-infinity'
   where source = $1 and owner = $2`;

/** The shards of an outbox that this process moves: lease rows whose epoch grows with every owner. */
export class ShardLeases {
  readonly #options: ShardLeasesOptions;
  readonly #epochs = new Map<number, number>();
  #shardsExist = false;

  constructor(options: ShardLeasesOptions) {
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

  /**
   * With `hold` the epochs cannot change before the client's transaction ends.
   * @throws FencedError when one of the shards has passed to another owner.
   */
  async check(
    client: Pick<PoolClient, 'query'>,
    shards: Iterable<number>,
    hold: boolean,
  ): Promise<void> {
    const { source } = this.#options;
    const wanted = [...shards];
    const { rows } = await client.query<{ shard: number; epoch: string }>(
      prepared(hold ? HOLD_EPOCHS : READ_EPOCHS, [source, wanted]),
    );
    const epochs = new Map(rows.map((row) => [row.shard, Number(row.epoch)]));
    for (const shard of wanted) {
      const mine = this.#epochs.get(shard);
      if (mine === undefined || epochs.get(shard) !== mine) {
        throw new FencedError(`shard ${shard} of ${source} has another owner`);
      }
    }
  }

  async release(): Promise<void> {
    this.#epochs.clear();
    await this.#options.pool.query(RELEASE, [this.#options.source, this.#options.owner]);
  }
}
