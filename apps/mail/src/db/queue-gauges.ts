import { Gauge, type Registry } from 'prom-client';
import type { Database } from '@dak/platform/postgres';
import { keep, registerDatabaseSize } from '@dak/platform/telemetry';

/** States that `delivery_due` and `delivery_leased` index: what is finished is not counted. */
const WAITING = `('held', 'scheduled', 'queued', 'deferred', 'uncertain')`;

const VALUES = [
  {
    name: 'dak_mail_spool_messages',
    help: 'Accepted mail that is not stored yet',
    sql: 'select count(*)::float as value from inbound_spool',
  },
  {
    name: 'dak_mail_spool_oldest_seconds',
    help: 'Age of the oldest accepted mail that is not stored yet',
    sql: `select coalesce(extract(epoch from now() - min(received_at)), 0)::float as value
            from inbound_spool`,
  },
  {
    name: 'dak_mail_delivery_overdue_seconds',
    help: 'How long the delivery that waits longest has been due, without those that somebody holds',
    sql: `select coalesce(extract(epoch from now() - min(d.next_attempt_at)), 0)::float as value
            from delivery d
            left join organization o on o.organization_id = d.organization_id
           where d.state in ${WAITING} and d.next_attempt_at < now()
             and coalesce(o.status, 'active') = 'active' and coalesce(o.outgoing, 'run') = 'run'
             and not exists (select from operations where outgoing = 'hold')`,
  },
  {
    name: 'dak_mail_outgoing_hold',
    help: '1 while outgoing mail of the whole deployment is held',
    sql: `select count(*)::float as value from operations where outgoing = 'hold'`,
  },
  {
    name: 'dak_mail_import_jobs_running',
    help: 'Imports that have begun and not ended',
    sql: `select count(*)::float as value from import_job where status = 'running'`,
  },
];

/** Mail as it came or went, and files uploaded for later mail: what is in the blob store, but for what is stored twice. */
const STORED = `
  select (coalesce((select sum(size_bytes) from conversation_tally), 0)
          + coalesce((select sum(size_bytes) from upload), 0))::float as value`;
const DATABASE_SIZE = 'select pg_database_size(current_database())::float as value';

/** The first of the reasons that keep a delivery which is due. */
const HELD = `
  select reason, count(*)::float as value
    from (select case when exists (select from operations where outgoing = 'hold') then 'operations'
                      when o.status <> 'active' then 'organization_suspended'
                      when o.outgoing = 'hold' then 'organization'
                      when d.parked_mailbox_id is not null then 'mailbox_disabled' end as reason
            from delivery d
            left join organization o on o.organization_id = d.organization_id
           where d.state in ${WAITING}
             and (d.next_attempt_at <= now() or d.parked_mailbox_id is not null)) h
   where reason is not null
   group by reason`;

const BY_STATE = `
  select state, count(*)::float as value
    from delivery where state in ${WAITING} or state = 'sending'
   group by state`;

/**
 * What waits in the mail service, asked of the database with every scrape and so the same on every
 * replica. While the database is away these metrics are absent and all others go on.
 */
export function registerQueueGauges(registry: Registry, database: Database): void {
  const registers = [registry];
  const ask = <Row extends object>(sql: string): Promise<Row[]> =>
    database.asWorker(async (tx) => (await tx.query<Row>(sql)).rows).catch(() => []);
  for (const { name, help, sql } of VALUES) {
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        this.remove();
        for (const { value } of await ask<{ value: number }>(sql)) this.set(value);
      },
    });
  }
  new Gauge({
    name: 'dak_mail_deliveries_held',
    help: 'Deliveries that are due and that somebody holds, by reason',
    labelNames: ['reason'],
    registers,
    async collect() {
      this.reset();
      for (const { reason, value } of await ask<{ reason: string; value: number }>(HELD)) {
        this.set({ reason }, value);
      }
    },
  });
  new Gauge({
    name: 'dak_mail_deliveries',
    help: 'Unfinished deliveries by state',
    labelNames: ['state'],
    registers,
    async collect() {
      this.reset();
      for (const { state, value } of await ask<{ state: string; value: number }>(BY_STATE)) {
        this.set({ state }, value);
      }
    },
  });
  const measure = (sql: string) => (): Promise<number> =>
    database.asWorker(async (tx) => (await tx.query<{ value: number }>(sql)).rows[0]!.value);
  const stored = keep(measure(STORED));
  new Gauge({
    name: 'dak_mail_stored_bytes',
    help: 'Bytes of mail and uploaded files that are kept',
    registers,
    async collect() {
      this.remove();
      const bytes = await stored().catch(() => null);
      if (bytes !== null) this.set(bytes);
    },
  });
  registerDatabaseSize(registry, 'mail', measure(DATABASE_SIZE));
}
