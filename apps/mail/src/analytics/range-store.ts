import { InvalidError } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import type { AnalyticsQuery, Granularity, RangeEnd } from './analytics-query';

/** A resolved range. Times are RFC 3339 UTC. */
export interface TimeRange {
  readonly from: string;
  /** Not included. */
  readonly to: string;
  readonly granularity: Granularity;
  readonly timeZone: string;
  /** Where each bucket begins; the first may begin before `from`. */
  readonly starts: readonly string[];
}

const MAX_BUCKETS = 10_000;
/** SQLSTATE of a time zone that is not known; nothing else in these statements raises it. */
const INVALID_PARAMETER_VALUE = '22023';
const HOUR_MS = 3_600_000;
/** The shortest that each can be. */
const SHORTEST_MS: Record<Granularity, number> = {
  hour: HOUR_MS / 2,
  day: 23 * HOUR_MS,
  week: 167 * HOUR_MS,
  month: 28 * 23 * HOUR_MS,
};

// A day begins where its local midnight is; where clocks skip midnight, at the first moment after.
const BOUNDS = `
  with zone as (
    select coalesce($2, (select time_zone from organization where organization_id = $1), 'UTC') as name),
  ending as (
    select name,
           coalesce($5::timestamptz, ($6::date + 1)::timestamp at time zone name, $7::timestamptz) as until
      from zone)
  select name as time_zone, until as "to",
         coalesce($3::timestamptz, $4::date::timestamp at time zone name,
                  (date_trunc('day', (until - interval '1 microsecond') at time zone name)
                   - interval '29 days') at time zone name) as "from"
    from ending`;

// Hours are counted through, as a local hour comes twice when clocks go back; a quarter of an hour
// is what all offsets are multiples of.
const HOUR_STARTS = `
  select distinct date_trunc('hour', at, $3) as start
    from (select generate_series($1::timestamptz, $2::timestamptz - interval '1 microsecond', interval '15 minutes')
           union all
          select $2::timestamptz - interval '1 microsecond') as t (at)
   order by start`;

const LOCAL_STARTS = `
  select local at time zone $3 as start
    from generate_series(date_trunc($4, $1::timestamptz at time zone $3),
                         ($2::timestamptz - interval '1 microsecond') at time zone $3,
                         ('1 ' || $4)::interval) as local
   order by start`;

/**
 * @throws InvalidError when the range is empty or has more than 10 000 buckets, or when PostgreSQL does not
 * know the time zone: the list of its system is another than that of Node
 */
export async function resolveRange(
  tx: SqlExecutor,
  organizationId: string,
  query: Pick<AnalyticsQuery, 'from' | 'to' | 'granularity' | 'timeZone'>,
  now: number,
): Promise<TimeRange> {
  try {
    return await readRange(tx, organizationId, query, now);
  } catch (error) {
    if ((error as { code?: unknown }).code !== INVALID_PARAMETER_VALUE) throw error;
    throw new InvalidError(
      'time_zone, or without it the time zone of the organization, is one that the database does not know: use the IANA name of a place, such as Asia/Kolkata.',
    );
  }
}

async function readRange(
  tx: SqlExecutor,
  organizationId: string,
  query: Pick<AnalyticsQuery, 'from' | 'to' | 'granularity' | 'timeZone'>,
  now: number,
): Promise<TimeRange> {
  const { granularity } = query;
  const { rows } = await tx.query<{ time_zone: string; from: string; to: string }>(BOUNDS, [
    organizationId,
    query.timeZone,
    ...endValues(query.from),
    ...endValues(query.to),
    new Date(now).toISOString(),
  ]);
  const { time_zone: timeZone, from, to } = rows[0]!;
  const length = Date.parse(to) - Date.parse(from);
  if (!(length > 0)) throw new InvalidError('from must be before to.');
  if (length / SHORTEST_MS[granularity] > 2 * MAX_BUCKETS) throw tooMany(granularity);
  const starts =
    granularity === 'hour'
      ? await tx.query<{ start: string }>(HOUR_STARTS, [from, to, timeZone])
      : await tx.query<{ start: string }>(LOCAL_STARTS, [from, to, timeZone, granularity]);
  if (starts.rows.length > MAX_BUCKETS) throw tooMany(granularity);
  return { from, to, granularity, timeZone, starts: starts.rows.map(({ start }) => start) };
}

function endValues(end: RangeEnd): [time: string | null, date: string | null] {
  if (end === null) return [null, null];
  return 'time' in end ? [end.time, null] : [null, end.date];
}

function tooMany(granularity: Granularity): InvalidError {
  return new InvalidError(
    `from and to span more than ${MAX_BUCKETS} times granularity ${granularity}: choose a shorter range or a longer granularity.`,
  );
}
