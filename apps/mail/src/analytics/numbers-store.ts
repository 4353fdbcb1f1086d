import type { Principal } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import { SqlParameters } from '../db/sql-parameters';
import type { AnalyticsQuery } from './analytics-query';
import type { Measure } from './project-entry';
import type { TimeRange } from './range-store';
import { readingScope } from './reading-scope-sql';

/** Dimensions of the figures. `total` is everything, `actor` the one who acted. */
export type Dimension = 'total' | 'bucket' | 'mailbox' | 'department' | 'assignee' | 'actor';

/** A group of a dimension: its number, id or null; people also have a type. */
interface GroupKey {
  readonly dimension: Dimension;
  readonly key: string | null;
  readonly type: string | null;
}

export interface CountRow extends GroupKey {
  readonly measure: Measure;
  readonly amount: number;
}

export interface SampleRow extends GroupKey {
  readonly measure: Measure;
  /** Milliseconds. */
  readonly p50: number;
  readonly p90: number;
  readonly mean: number;
  readonly count: number;
}

export interface BacklogRow extends GroupKey {
  /** At the end of the range. */
  readonly amount: number;
}

export interface NumberRows {
  readonly as_of: string | null;
  readonly counts: readonly CountRow[];
  readonly samples: readonly SampleRow[];
  readonly backlog: readonly BacklogRow[];
  readonly people: readonly { readonly type: string; readonly id: string; readonly name: string }[];
}

/** Columns of the facts by dimension, the key first. */
const COLUMNS: Record<Dimension, readonly string[]> = {
  total: [],
  bucket: ['bucket'],
  mailbox: ['mailbox_id'],
  department: ['department_id'],
  assignee: ['assignee_id', 'assignee_type'],
  actor: ['actor_id', 'actor_type'],
};
const OF_BACKLOG: readonly Dimension[] = ['total', 'mailbox', 'department', 'assignee'];

/**
 * Everything that a reply is made of, in one statement, so that all of it is of one moment even while
 * events come in or a rebuilt model takes the place of another.
 */
export async function selectNumbers(
  tx: SqlExecutor,
  principal: Principal,
  query: AnalyticsQuery,
  range: TimeRange,
  dimensions: readonly Dimension[],
): Promise<NumberRows> {
  await tx.query(PLANNING);
  const parameters = new SqlParameters();
  const scope = readingScope(principal, query, parameters);
  const from = parameters.add(range.from);
  const to = parameters.add(range.to);
  const starts = parameters.add(range.starts);
  const columns = [...new Set(dimensions.flatMap((dimension) => COLUMNS[dimension]))];
  const listed = columns.map((column) => `${column}, `).join('');
  const model = `f.organization_id = ${scope.organization} and f.generation = (select generation from model)`;
  const facts = (amount: string) => `
    select width_bucket(f.at, ${starts}::timestamptz[]) as bucket, f.measure, f.mailbox_id, f.department_id,
           f.assignee_type, f.assignee_id, f.actor_type, f.actor_id, ${amount} as amount
      from analytics_fact f
     where ${model} and f.at >= ${from} and f.at < ${to} and ${scope.condition('f')}`;
  const backlogDimensions = dimensions.filter((dimension) => OF_BACKLOG.includes(dimension));
  const { rows } = await tx.query<NumberRows>(
    `with recursive
  model as (select generation, as_of from analytics_model where organization_id = ${scope.organization}),
  ${scope.tables}
  cell as materialized (
    select ${listed}measure, sum(amount)::integer as amount
      from (${facts('f.amount')}) f
     group by ${listed}measure),
  sample as materialized (${facts('f.milliseconds')} and f.milliseconds is not null),
  unresolved as materialized (
    select c.mailbox_id, c.department_id, c.assignee_type, c.assignee_id, 1 as amount
      from analytics_conversation c
     where c.organization_id = ${scope.organization} and c.generation = (select generation from model)
       and c.in_backlog and ${scope.condition('c')}
     union all
    select f.mailbox_id, f.department_id, f.assignee_type, f.assignee_id, -f.amount
      from analytics_fact f
     where ${model} and f.measure = 'backlog' and f.at >= ${to} and ${scope.condition('f')})
  select (select as_of from model) as as_of,
         ${list(dimensions.map((dimension) => grouped(dimension, 'cell', 'measure', 'sum(amount)::integer as amount')))} as counts,
         ${list(dimensions.map((dimension) => grouped(dimension, 'sample', 'measure', DURATIONS)))} as samples,
         ${list(backlogDimensions.map((dimension) => grouped(dimension, 'unresolved', null, 'sum(amount)::integer as amount')))} as backlog,
         ${list(peopleIn(dimensions, scope.organization))} as people`,
    parameters.values,
  );
  return rows[0]!;
}

// Sorts of some ten thousand facts stay in memory, and compiling costs more than such a statement.
const PLANNING = `select set_config('work_mem', '32MB', true), set_config('jit', 'off', true)`;

const DURATIONS = `
  percentile_cont(0.5) within group (order by amount) as p50,
  percentile_cont(0.9) within group (order by amount) as p90,
  avg(amount)::float8 as mean, count(*)::integer as count`;

function grouped(
  dimension: Dimension,
  table: string,
  measure: 'measure' | null,
  aggregates: string,
): string {
  const [key, type] = COLUMNS[dimension];
  const by = [...COLUMNS[dimension], ...(measure === null ? [] : [measure])];
  return `
    select '${dimension}' as dimension, ${key ?? 'null'}::text as key, ${type ?? 'null'}::text as type,
           ${measure === null ? '' : 'measure, '}${aggregates}
      from ${table}
     ${by.length === 0 ? 'having count(*) > 0' : `group by ${by.join(', ')}`}`;
}

/** Names of the people in the groups. */
function peopleIn(dimensions: readonly Dimension[], organization: string): string[] {
  const ids = dimensions.flatMap((dimension) => {
    const [key, type] = COLUMNS[dimension];
    if (type === undefined) return [];
    const tables = OF_BACKLOG.includes(dimension) ? ['cell', 'unresolved'] : ['cell'];
    return tables.map((table) => `select ${type}, ${key} from ${table}`);
  });
  if (ids.length === 0) return [];
  return [
    `select p.type, p.id, p.name
       from analytics_person p
      where p.organization_id = ${organization} and p.generation = (select generation from model)
        and (p.type, p.id) in (${ids.join(' union ')})`,
  ];
}

function list(selects: readonly string[]): string {
  if (selects.length === 0) return `'[]'::json`;
  return `(select coalesce(json_agg(r), '[]') from (${selects.join(' union all ')}) r)`;
}
