import type { LogMessage, OutboxRow, OwnedShard, RelayChannel } from '../log';
import { ShardLeases, type ShardLeasesOptions } from '../shard-leases';

export interface KafkaRelayChannelOptions extends ShardLeasesOptions {
  publish: (messages: readonly LogMessage[]) => Promise<void>;
}

/**
 * Leases are rows in PostgreSQL, the events go to Kafka: no transaction spans both. Two windows remain.
 * A relay that dies between the acknowledgment and the deletion of its rows leaves them to be published
 * again, and one that pauses between checking its lease and sending publishes while another relay
 * already owns the shard. Both repeat events in their order, behind the first time; consumers know
 * repetitions by their inbox.
 */
export class KafkaRelayChannel implements RelayChannel {
  readonly #options: KafkaRelayChannelOptions;
  readonly #leases: ShardLeases;

  constructor(options: KafkaRelayChannelOptions) {
    this.#options = options;
    this.#leases = new ShardLeases(options);
  }

  async renew(uncertain: boolean): Promise<OwnedShard[]> {
    const owned = await this.#leases.renew(uncertain);
    // What a log in PostgreSQL noted before says nothing about Kafka.
    return owned.map((shard) => ({ ...shard, publishedSeqs: [] }));
  }

  async publish(rows: readonly OutboxRow[]): Promise<void> {
    const { pool, publish } = this.#options;
    await this.#leases.check(pool, new Set(rows.map(({ shard }) => shard)), false);
    await publish(rows);
  }

  release(): Promise<void> {
    return this.#leases.release();
  }
}
