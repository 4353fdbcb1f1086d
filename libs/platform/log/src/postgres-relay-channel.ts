import type { PoolClient } from 'pg';
import { appendRecords } from './append-records';
import type { OutboxRow, OwnedShard, RelayChannel } from './log';
import { prepared } from './prepared';
import { ShardLeases, type ShardLeasesOptions } from './shard-leases';

export interface PostgresRelayChannelOptions extends ShardLeasesOptions {
  topics: ReadonlyMap<string, number>;
  transact: <T>(work: (client: PoolClient) => Promise<T>) => Promise<T>;
  onPublished: () => void;
}

const REMEMBER = `
  update log_shard_lease lease
     set last_seqs = latest.seqs::bigint[]
    from unnest($2::smallint[], $3::text[]) as latest (shard, seqs)
   where lease.source = $1 and lease.shard = latest.shard`;

/**
 * A publication locks its shards, checks their epochs, appends and notes the outbox rows in one
 * transaction: none is published twice, and by a former owner not at all.
 */
export class PostgresRelayChannel implements RelayChannel {
  readonly #options: PostgresRelayChannelOptions;
  readonly #leases: ShardLeases;

  constructor(options: PostgresRelayChannelOptions) {
    this.#options = options;
    this.#leases = new ShardLeases(options);
  }

  renew(uncertain: boolean): Promise<OwnedShard[]> {
    return this.#leases.renew(uncertain);
  }

  async publish(rows: readonly OutboxRow[]): Promise<void> {
    const { transact, source, topics, onPublished } = this.#options;
    const seqs = Map.groupBy(rows, ({ shard }) => shard);
    await transact(async (client) => {
      await this.#leases.check(client, seqs.keys(), true);
      await appendRecords(client, topics, rows);
      const lists = [...seqs.values()].map((list) => `{${list.map(({ seq }) => seq).join(',')}}`);
      await client.query(prepared(REMEMBER, [source, [...seqs.keys()], lists]));
    });
    onPublished();
  }

  release(): Promise<void> {
    return this.#leases.release();
  }
}
