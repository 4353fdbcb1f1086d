import type { Pool } from 'pg';

export interface LedgerFindings {
  /** Events of committed changes. */
  written: number;
  /** Acknowledged to a writer, and not in the database: it must be durable. */
  forgotten: number;
  /** Committed, and without effect. */
  lost: number;
  /** With effect, and never committed. */
  phantoms: number;
  /** With effect more than once. */
  repeated: number;
  /** Handled for the first time before an earlier one of their key. */
  disordered: number;
  /** Keys whose balance is not the number of their events. */
  unbalanced: number;
  /** Deliveries in a transaction that committed, and those of them that had been seen before. */
  delivered: number;
  redelivered: number;
}

const FINDINGS = `
  select (select count(*) from written)::int as written,
         (select count(*) from unnest($1::text[]) as id
           where not exists (select 1 from written w where w.event_id = id))::int as forgotten,
         (select count(*) from written w
           where not exists (select 1 from ledger l where l.event_id = w.event_id))::int as lost,
         (select count(*) from ledger l
           where not exists (select 1 from written w where w.event_id = l.event_id))::int as phantoms,
         (select count(*) - count(distinct event_id) from ledger)::int as repeated,
         (select count(*) from (
            select seq, max(seq) over (partition by key order by position
                                       rows between unbounded preceding and 1 preceding) as before
              from ledger) as ordered
           where seq < before)::int as disordered,
         (select count(*) from (
            select key, count(*) as events from written group by key) as counted
            full join balance b using (key)
           where counted.events is distinct from b.total)::int as unbalanced,
         (select coalesce(sum(delivered), 0) from delivery)::int as delivered,
         (select coalesce(sum(delivered - fresh), 0) from delivery)::int as redelivered`;

/** @param acknowledged ids that a writer printed after its commit. */
export async function checkLedger(
  service: Pool,
  acknowledged: readonly string[],
): Promise<LedgerFindings> {
  const { rows } = await service.query<LedgerFindings>(FINDINGS, [acknowledged]);
  return rows[0]!;
}
