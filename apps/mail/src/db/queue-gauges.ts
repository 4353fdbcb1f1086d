import { Gauge, type Registry } from 'prom-client';
import type { Database } from '@dak/platform/postgres';
import { keep, registerDatabaseSize } from '@dak/platform/telemetry';

/** States indexed by `delivery_due` and `delivery_leased`; finished deliveries are not counted. */
const WAITING = `('held', 'scheduled', 'queued', 'deferred', 'uncertain')`;
/** Nothing is counted further, so that a scrape costs the same whatever has piled up. */
const MOST_COUNTED = 10_000;

/**
 * Organizations that have deliveries waiting, from one to the next by an index probe each, with what holds
 * all of theirs.
 */
const ORGANIZATIONS = `
  recursive waiting as (
    (select organization_id
       from delivery
      where state in ${WAITING}
      order by organization_id
      limit 1)
    union all
    select n.organization_id
      from waiting w
     cross join lateral (
           select organization_id
             from delivery
            where state in ${WAITING} and organization_id > w.organization_id
            order by organization_id
            limit 1) n),
  turn as (
    select w.organization_id,
           case when exists (select from operations where outgoing = 'hold') then 'operations'
                when o.status <> 'active' then 'organization_suspended'
                when o.outgoing = 'hold' then 'organization' end as reason
      from waiting w
      left join organization o on o.organization_id = w.organization_id)`;

/** An organization's due deliveries, in index order per priority. */
const dueOf = (organization: string, limit: number) => `
  (values (0), (1), (2)) as p (priority)
  cross join lateral (
        select d.next_attempt_at
          from delivery d
         where d.organization_id = ${organization} and d.priority = p.priority
           and d.state in ${WAITING} and d.next_attempt_at < now() and d.parked_mailbox_id is null
         order by d.next_attempt_at
         limit ${limit})`;

const VALUES = [
  {
    name: 'dak_mail_spool_messages',
    help: `Accepted mail that is not stored yet, at most ${MOST_COUNTED}`,
    sql: `select count(*)::float as value
            from (select from inbound_spool order by organization_id, id limit ${MOST_COUNTED}) s`,
  },
  {
    name: 'dak_mail_spool_oldest_seconds',
    help: 'Age of the oldest accepted mail that is not stored yet',
    // The ids of an organization grow with time.
    sql: `with recursive oldest as (
                 (select organization_id, received_at
                    from inbound_spool
                   order by organization_id, id
                   limit 1)
                 union all
                 select n.organization_id, n.received_at
                   from oldest o
                  cross join lateral (
                        select organization_id, received_at
                          from inbound_spool
                         where organization_id > o.organization_id
                         order by organization_id, id
                         limit 1) n)
          select coalesce(extract(epoch from now() - min(received_at)), 0)::float as value from oldest`,
  },
  {
    name: 'dak_mail_delivery_overdue_seconds',
    help: 'How long the oldest due delivery has been due, excluding held ones',
    sql: `with ${ORGANIZATIONS}
          select coalesce(extract(epoch from now() - min(d.next_attempt_at)), 0)::float as value
            from turn t
           cross join ${dueOf('t.organization_id', 1)} d
           where t.reason is null`,
  },
  {
    name: 'dak_mail_outgoing_hold',
    help: '1 while the deployment’s outgoing mail is held',
    sql: `select count(*)::float as value from operations where outgoing = 'hold'`,
  },
  {
    name: 'dak_mail_import_jobs_running',
    help: 'Imports in progress',
    sql: `select count(*)::float as value from import_job where status = 'running'`,
  },
];

/** Raw mail and uploaded files: the blob store's contents, except duplicates. */
const STORED = `
  select (coalesce((select sum(size_bytes) from conversation_tally), 0)
          + coalesce((select sum(size_bytes) from upload), 0))::float as value`;
const DATABASE_SIZE = 'select pg_database_size(current_database())::float as value';

/** The first of the reasons that keep a delivery which is due. */
const HELD = `
  with ${ORGANIZATIONS}
  select r.reason, (select count(*)
                      from (select
                              from turn t
                             cross join ${dueOf('t.organization_id', MOST_COUNTED)} d
                             where t.reason = r.reason
                             limit ${MOST_COUNTED}) h)::float as value
    from (values ('operations'), ('organization_suspended'), ('organization')) as r (reason)
   union all
  select coalesce(t.reason, 'mailbox_disabled'), count(*)::float
    from (select organization_id
            from delivery
           where parked_mailbox_id is not null and state in ${WAITING}
           order by organization_id, parked_mailbox_id
           limit ${MOST_COUNTED}) d
    join turn t on t.organization_id = d.organization_id
   group by 1`;

/** Limits a longer queue to the first rows in its index order. */
const BY_STATE = `
  select state, count(*)::float as value
    from (select state
            from delivery
           where state in ${WAITING}
           order by organization_id, priority, next_attempt_at
           limit ${MOST_COUNTED}) d
   group by state
   union all
  select 'sending', count(*)::float
    from (select from delivery where state = 'sending' order by lease_until limit ${MOST_COUNTED}) d
  having count(*) > 0`;

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
    help: `Due deliveries that are held, by reason; at most ${MOST_COUNTED} each`,
    labelNames: ['reason'],
    registers,
    async collect() {
      this.reset();
      for (const { reason, value } of await ask<{ reason: string; value: number }>(HELD)) {
        if (value > 0) this.inc({ reason }, value);
      }
    },
  });
  new Gauge({
    name: 'dak_mail_deliveries',
    help: `Unfinished deliveries by state, among the first ${MOST_COUNTED} waiting`,
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
    help: 'Bytes of stored mail and uploaded files',
    registers,
    async collect() {
      this.remove();
      const bytes = await stored().catch(() => null);
      if (bytes !== null) this.set(bytes);
    },
  });
  registerDatabaseSize(registry, 'mail', measure(DATABASE_SIZE));
}
