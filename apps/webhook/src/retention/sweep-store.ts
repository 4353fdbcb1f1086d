import type { Database, SqlExecutor } from '@dak/platform/postgres';

/** Days for which finished deliveries, their events and their attempts are kept. */
export const KEEP_DAYS = 30;
const AHEAD_DAYS = 3;
const BATCH = 2_000;

const FINISHED = `
  delete from delivery
   where ctid = any(array(select ctid from delivery
                           where finished_at < now() - make_interval(days => ${KEEP_DAYS}) limit ${BATCH}))`;
/** Deliveries of deleted endpoints. */
const ORPHANED = `
  delete from delivery d
   where (d.endpoint_id, d.id) in (
         select o.endpoint_id, o.id
           from (select l.endpoint_id from lane l
                  where not exists (select 1 from endpoint e where e.id = l.endpoint_id) limit 20) gone
          cross join lateral (select endpoint_id, id from delivery
                               where endpoint_id = gone.endpoint_id limit ${BATCH}) o)`;
const LANES = `
  delete from lane l
   where not exists (select 1 from endpoint e where e.id = l.endpoint_id)
     and not exists (select 1 from delivery d where d.endpoint_id = l.endpoint_id)`;
const MESSAGES = `
  delete from message
   where ctid = any(array(
         select m.ctid from message m
          where m.created_at < now() - make_interval(days => ${KEEP_DAYS})
            and not exists (select 1 from delivery d
                             where d.organization_id = m.organization_id and d.event_id = m.event_id)
          limit ${BATCH}))`;

/** Partitions and batches of rows take longer than the statements of requests. */
const STATEMENT_TIMEOUT_MS = 300_000;

/** Adds partitions for coming days, and deletes everything past its time. */
export function sweep(database: Database): Promise<{ more: boolean }> {
  const work = async (tx: SqlExecutor) => {
    await tx.query(`select maintain_attempts(${KEEP_DAYS}, ${AHEAD_DAYS})`);
    let more = false;
    for (const statement of [FINISHED, ORPHANED, MESSAGES]) {
      const { rowCount } = await tx.query(statement);
      more ||= rowCount >= BATCH;
    }
    await tx.query(LANES);
    return { more };
  };
  return database.asWorker(work, { statementTimeoutMs: STATEMENT_TIMEOUT_MS });
}
