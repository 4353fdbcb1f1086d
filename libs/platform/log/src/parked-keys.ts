import type { Pool } from 'pg';
import { inTransaction } from './sql-transaction';

/** A parked key as people see it. */
export interface ParkedListing {
  group: string;
  topic: string;
  key: string;
  /** How many wait. */
  events: number;
  /** RFC 3339 */
  since: string;
  reason: string;
  /** How the rows name the group; differs for a log in Kafka. */
  storedGroup: string;
}

export interface ParkedFilter {
  key?: string | undefined;
  group?: string | undefined;
  topic?: string | undefined;
}

export type ReplayState =
  | { is: 'waiting'; events: number; taken: boolean }
  | { is: 'failed'; events: number; reason: string }
  | { is: 'done' };

/** Suffix of groups that read a log in Kafka. */
const KAFKA_SUFFIX = '@kafka';

/** An installation that moves from one log to the other must not take its offsets along. */
export function kafkaGroup(group: string): string {
  return `${group}${KAFKA_SUFFIX}`;
}

const LIST = `
  select k.group_name, k.topic, k.key, k.reason, k.parked_at,
         (select count(*)::integer
            from parked_message m
           where (m.group_name, m.topic, m.key) = (k.group_name, k.topic, k.key)) as events
    from parked_key k
   where ($1::text is null or k.key = $1)
     and ($2::text is null or k.group_name in ($2, $2 || '${KAFKA_SUFFIX}'))
     and ($3::text is null or k.topic = $3)
   order by k.parked_at, k.group_name, k.topic, k.key`;

const ASK_REPLAY = `
  update parked_key
     set replay_asked_at = coalesce(replay_asked_at, now()), replay_error = null
   where group_name = $1 and topic = $2 and key = $3`;

const STATE = `
  select replay_asked_at is not null as asked, replay_until > now() as taken, replay_error,
         (select count(*)::integer
            from parked_message m
           where (m.group_name, m.topic, m.key) = (k.group_name, k.topic, k.key)) as events
    from parked_key k
   where group_name = $1 and topic = $2 and key = $3`;

/** Holds the key against members that put further events behind, and against a replay. */
const HOLD = `
  select reason, replay_until > now() as replaying
    from parked_key
   where group_name = $1 and topic = $2 and key = $3
     for update`;

const DROP_EVENTS = `
  delete from parked_message
   where group_name = $1 and topic = $2 and key = $3
  returning event_id, part, off`;

const DROP_KEY = `delete from parked_key where group_name = $1 and topic = $2 and key = $3`;

const NOTE = `
  insert into parked_action (action, group_name, topic, key, reason, event_ids)
  values ('dropped', $1, $2, $3, $4, $5)`;

type Place = Pick<ParkedListing, 'storedGroup' | 'topic' | 'key'>;

const valuesOf = ({ storedGroup, topic, key }: Place): string[] => [storedGroup, topic, key];

/** The longest parked come first. */
export async function listParkedKeys(
  pool: Pool,
  { key, group, topic }: ParkedFilter = {},
): Promise<ParkedListing[]> {
  const { rows } = await pool.query<{
    group_name: string;
    topic: string;
    key: string;
    reason: string;
    parked_at: Date;
    events: number;
  }>(LIST, [key ?? null, group ?? null, topic ?? null]);
  return rows.map((row) => ({
    group: row.group_name.endsWith(KAFKA_SUFFIX)
      ? row.group_name.slice(0, -KAFKA_SUFFIX.length)
      : row.group_name,
    topic: row.topic,
    key: row.key,
    events: row.events,
    since: row.parked_at.toISOString(),
    reason: row.reason,
    storedGroup: row.group_name,
  }));
}

/** Asks the running members of the group to hand the events of the key to their handler. */
export async function askReplay(pool: Pool, place: Place): Promise<void> {
  await pool.query(ASK_REPLAY, valuesOf(place));
}

export async function replayState(pool: Pool, place: Place): Promise<ReplayState> {
  const { rows } = await pool.query<{
    asked: boolean;
    taken: boolean;
    replay_error: string | null;
    events: number;
  }>(STATE, valuesOf(place));
  const [row] = rows;
  if (row === undefined) return { is: 'done' };
  const { asked, taken, events, replay_error: reason } = row;
  if (asked) return { is: 'waiting', events, taken };
  // Without a reason it was parked again after the replay, by a later event.
  return reason === null ? { is: 'done' } : { is: 'failed', events, reason };
}

/**
 * Gives up the waiting events of a key for its group; later ones are handled again.
 * @returns their ids in order; null when the key is not parked any more, `replaying` while a replay runs
 */
export async function dropParked(
  pool: Pool,
  place: Place,
): Promise<readonly string[] | 'replaying' | null> {
  const values = valuesOf(place);
  return inTransaction(pool, async (client) => {
    const held = await client.query<{ reason: string; replaying: boolean }>(HOLD, values);
    if (held.rows[0] === undefined) return null;
    if (held.rows[0].replaying) return 'replaying';
    const { rows } = await client.query<{ event_id: string; part: number; off: string }>(
      DROP_EVENTS,
      values,
    );
    rows.sort((a, b) => a.part - b.part || Number(a.off) - Number(b.off));
    const ids = rows.map((row) => row.event_id);
    await client.query(DROP_KEY, values);
    await client.query(NOTE, [...values, held.rows[0].reason, ids]);
    return ids;
  });
}
