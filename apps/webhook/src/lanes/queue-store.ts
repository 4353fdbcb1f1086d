import type { SqlExecutor } from '@dak/platform/postgres';

/** Counting ends here, so that a scrape costs the same however long the queue is. */
export const MOST_COUNTED = 10_000;

/** Due deliveries in the order of their index, which costs one probe per endpoint. */
const dueOf = (limit: number) => `
    from endpoint e
   cross join lateral (
         select next_at
           from delivery
          where endpoint_id = e.id and state = 'pending' and next_at <= now()
          order by next_at
          limit ${limit}) d
   where e.enabled and e.status = 'active'`;

const QUEUE = `
  select (select count(*) from (select ${dueOf(MOST_COUNTED)} limit ${MOST_COUNTED}) due)::float as depth,
         case when exists (select from operations where webhooks = 'hold') then 0
              else coalesce(extract(epoch from now() - (select min(next_at) ${dueOf(1)})), 0) end::float as oldest,
         (select count(*)::float from operations where webhooks = 'hold') as hold`;

const DATABASE_SIZE = 'select pg_database_size(current_database())::float as value';

interface QueueRow {
  depth: number;
  oldest: number;
  hold: number;
}

export async function measureQueue(worker: SqlExecutor): Promise<QueueRow | undefined> {
  return (await worker.query<QueueRow>(QUEUE)).rows[0];
}

/** @returns bytes */
export async function measureDatabase(worker: SqlExecutor): Promise<number> {
  return (await worker.query<{ value: number }>(DATABASE_SIZE)).rows[0]!.value;
}
