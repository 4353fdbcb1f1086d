import { randomUUID } from 'node:crypto';
import { eventually } from '@dak/testing/waiting';
import { PostgresLog } from '../src/postgres-log';
import type { LogMessage } from '../src/log';
import { openLogDatabase, type LogDatabase } from './log-database';

const OURS = randomUUID();
const OTHERS = randomUUID();
const CONVERSATION = randomUUID();
const MESSAGE = randomUUID();
const HOUR_MS = 3_600_000;

describe('events that are forgotten', () => {
  let database: LogDatabase;
  let log: PostgresLog;
  beforeEach(async () => {
    database = await openLogDatabase();
    log = await PostgresLog.open({ pool: database.pool, topics: { 'notes.v1': 2 } });
  });
  afterEach(async () => {
    await log.close(1_000);
    await database.drop();
  });

  const event = (id: string, key: string, text = ''): LogMessage => ({
    ...{ id, topic: 'notes.v1', key, headers: {} },
    payload: Buffer.from(text),
  });
  const left = async (): Promise<string[]> => {
    const { rows } = await database.admin.query<{ id: string }>(
      'select event_id as id from event_log union all select event_id from parked_message order by 1',
    );
    return rows.map(({ id }) => id);
  };

  it('are all of an organization, and none of another that names it', async () => {
    await log.publish([
      event('a', OURS),
      event('b', `${OURS}:${CONVERSATION}`),
      event('c', `${OTHERS}:${CONVERSATION}`, `Subject: ${OURS}`),
      event('d', OTHERS, OURS),
      event('e', `${OURS}0`),
    ]);
    const before = Date.now() + HOUR_MS;
    expect(await log.forget({ organizationId: OURS, before, about: [] })).toBe(2);
    expect(await left()).toEqual(['c', 'd', 'e']);
  });

  it('stay while they are younger', async () => {
    await log.publish([event('a', OURS)]);
    const before = Date.now() - HOUR_MS;
    expect(await log.forget({ organizationId: OURS, before, about: [] })).toBe(0);
  });

  it('are those of a conversation, or those that name a message of it, once every group has read them', async () => {
    await log.publish([
      event('a', `${OURS}:${CONVERSATION}`, `read ${MESSAGE}`),
      event('b', `${OURS}:${CONVERSATION}`, 'another message'),
      event('c', `${OURS}:${randomUUID()}`, `elsewhere ${MESSAGE}`),
      event('d', `${OTHERS}:${CONVERSATION}`, MESSAGE),
    ]);
    const about = [{ conversationId: CONVERSATION, messageId: MESSAGE }];
    const forget = (messageId: string | null) =>
      log.forget({ organizationId: OURS, before: null, about: [{ ...about[0]!, messageId }] });
    const waiting = await log.subscribe('reader', ['notes.v1'], async () => {
      throw new Error('not yet');
    });
    await eventually(async () => (await log.lag('reader')).length > 0);
    expect(await forget(MESSAGE)).toBe(0);
    await waiting.close(0);
    await log.subscribe('reader', ['notes.v1'], async () => undefined);
    await eventually(async () => (await log.lag('reader')).every(({ records }) => records === 0));
    expect(await forget(MESSAGE)).toBe(1);
    expect(await left()).toEqual(['b', 'c', 'd']);
    expect(await forget(null)).toBe(1);
    expect(await left()).toEqual(['c', 'd']);
  });

  it('take their parked key along, but not what is put behind it at that moment', async () => {
    const parkKey = (key: string) =>
      database.admin.query(
        `insert into parked_key (group_name, topic, key, reason, parked_at)
         values ('reader', 'notes.v1', $1, 'x', now() - interval '1 hour')`,
        [key],
      );
    await parkKey('empty');
    await parkKey('busy');
    const member = await database.admin.connect();
    try {
      await member.query(`begin; select from parked_key where key = 'busy' for share`);
      await member.query(
        `insert into parked_message (group_name, topic, key, part, off, event_id, headers, payload, published_at)
         values ('reader', 'notes.v1', 'busy', 0, 1, 'evt_late', '{}', '', now())`,
      );
      const forgotten = log.forget({ organizationId: OURS, before: null, about: [] });
      await eventually(async () => {
        const { rows } = await database.admin.query(
          `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
        );
        const keys = await database.admin.query('select key from parked_key');
        return rows.length > 0 || keys.rowCount === 1;
      });
      await member.query('commit');
      await forgotten;
    } finally {
      member.release();
    }
    const { rows } = await database.admin.query('select key from parked_key');
    expect(rows).toEqual([{ key: 'busy' }]);
    expect(await left()).toEqual(['evt_late']);
  });

  it('are found by an index, but for those of the present day', async () => {
    await database.admin.query(
      `create table event_log_20200101 partition of event_log
         for values from ('2020-01-01 00:00:00+00') to ('2020-01-02 00:00:00+00')`,
    );
    await log.forget({ organizationId: OURS, before: Date.now(), about: [] });
    await log.forget({ organizationId: OURS, before: Date.now(), about: [] });
    const { rows } = await database.admin.query<{ days: string[]; today: string }>(
      `select array_agg(tablename::text order by tablename) as days,
              to_char(now() at time zone 'UTC', '"event_log_"YYYYMMDD') as today
         from pg_indexes where indexname = tablename || '_key'`,
    );
    const { days, today } = rows[0]!;
    expect(days[0]).toBe('event_log_20200101');
    expect(days).not.toContain(today);
    const client = await database.admin.connect();
    try {
      await client.query('set enable_seqscan = off');
      const { rows: plan } = await client.query<{ 'QUERY PLAN': string }>(
        `explain delete from event_log where published_at < '2020-02-01' and key collate "C" = 'x'`,
      );
      expect(plan.map((row) => row['QUERY PLAN']).join('\n')).toContain('event_log_20200101_key');
    } finally {
      client.release();
    }
  });
});
