import type { Principal } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import { SqlParameters } from '../db/sql-parameters';
import type { AnalyticsQuery } from './analytics-query';
import type { TimeRange } from './range-store';
import { readingScope } from './reading-scope-sql';

export interface VerdictRow {
  /** From 1. */
  readonly bucket: number;
  readonly mechanism: 'spf' | 'dkim' | 'dmarc';
  /** RFC 8601: pass, fail, none … */
  readonly verdict: string;
  readonly count: number;
}

/** How received mail was authenticated; only of messages whose verdicts are known. */
export async function selectAuthentication(
  tx: SqlExecutor,
  principal: Principal,
  query: AnalyticsQuery,
  range: TimeRange,
): Promise<VerdictRow[]> {
  const parameters = new SqlParameters();
  const scope = readingScope(principal, query, parameters);
  const { rows } = await tx.query<VerdictRow>(
    `with recursive
  model as (select generation, as_of from analytics_model where organization_id = ${scope.organization}),
  ${scope.tables}
  received as (
    select width_bucket(f.at, ${parameters.add(range.starts)}::timestamptz[]) as bucket, f.detail
      from analytics_fact f
     where f.organization_id = ${scope.organization} and f.generation = (select generation from model)
       and f.at >= ${parameters.add(range.from)} and f.at < ${parameters.add(range.to)}
       and f.measure in ('received', 'received_automatic') and f.detail is not null
       and ${scope.condition('f')})
  select r.bucket, m.name as mechanism, split_part(r.detail, '/', m.place) as verdict, count(*)::integer
    from received r
   cross join (values ('spf', 1), ('dkim', 2), ('dmarc', 3)) as m (name, place)
   where split_part(r.detail, '/', m.place) <> ''
   group by 1, 2, 3`,
    parameters.values,
  );
  return rows;
}

export interface WrittenRow {
  readonly type: string;
  readonly id: string;
  /** Messages that left, however many recipients each had. */
  readonly messages: number;
}

/** How many messages everybody has written that left in the range. */
export async function selectWrittenMessages(
  tx: SqlExecutor,
  principal: Principal,
  query: AnalyticsQuery,
  range: TimeRange,
): Promise<WrittenRow[]> {
  const parameters = new SqlParameters();
  const scope = readingScope(principal, query, parameters);
  const { rows } = await tx.query<WrittenRow>(
    `with recursive
  model as (select generation, as_of from analytics_model where organization_id = ${scope.organization}),
  ${scope.tables}
  written as (
    select distinct f.actor_type as type, f.actor_id as id, f.message_id
      from analytics_fact f
     where f.organization_id = ${scope.organization} and f.generation = (select generation from model)
       and f.at >= ${parameters.add(range.from)} and f.at < ${parameters.add(range.to)}
       and f.measure in ('sent', 'sent_automatic') and ${scope.condition('f')})
  select type, id, count(*)::integer as messages
    from written
   group by type, id`,
    parameters.values,
  );
  return rows;
}
