import { Client } from 'pg';
import { waitFor } from './bench-run';

/** Looks into the mail service's database as its administrator: what has been stored, what waits. */
export class InboundProgress {
  private constructor(private readonly client: Client) {}

  static async open(mailDatabaseUrl: string): Promise<InboundProgress> {
    const client = new Client({ connectionString: mailDatabaseUrl });
    await client.connect();
    return new InboundProgress(client);
  }

  /** Messages received from outside that are stored in a conversation. */
  stored(): Promise<number> {
    return this.count(`select count(*)::int as n from message where direction = 'inbound'`);
  }

  /** Accepted, not yet stored. */
  waiting(): Promise<number> {
    return this.count('select count(*)::int as n from inbound_spool');
  }

  /** @throws Error after `seconds` */
  async untilDrained(seconds: number): Promise<void> {
    await waitFor('Storing what was accepted', seconds, async () =>
      (await this.waiting()) === 0 ? true : null,
    );
  }

  /** Starts every round with tables of the same state, and with the statistics that autovacuum makes within a minute. */
  async settle(): Promise<void> {
    await this.client.query('vacuum inbound_spool');
    await this.client.query('analyze');
    await this.client.query('checkpoint');
  }

  async close(): Promise<void> {
    await this.client.end();
  }

  private async count(sql: string): Promise<number> {
    const { rows } = await this.client.query<{ n: number }>(sql);
    return rows[0]?.n ?? 0;
  }
}
