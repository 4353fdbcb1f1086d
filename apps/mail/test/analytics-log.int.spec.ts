import { join } from 'node:path';
import pg from 'pg';
import { Registry } from 'prom-client';
import type { EventEnvelope } from '@dak/contracts/events';
import { uuidv7 } from '@dak/kernel';
import { PostgresLog, toLogMessage } from '@dak/platform/log';
import { createTestDatabase, type TestDatabase } from '@dak/testing/database';
import { eventually } from '@dak/testing/waiting';
import { compareWithLog } from '../src/analytics/compare-log';
import {
  ANALYTICS_GROUP,
  createAnalyticsConsumer,
  type AnalyticsConsumer,
} from '../src/analytics/consume-events';
import { registerLagGauge } from '../src/analytics/lag-gauge';
import { eventsIn, modelOf } from './analytics-fixtures';
import { openMailDatabase, type MailDatabase } from './mail-fixtures';

const LOG_MIGRATIONS = join(__dirname, '../../../libs/platform/log/migrations');
const ASHA = { type: 'user', id: uuidv7(), name: 'Asha' };

describe('analytics at the log', () => {
  let mail: MailDatabase;
  let logDatabase: TestDatabase;
  let pool: pg.Pool;
  let log: PostgresLog;
  let consumer: AnalyticsConsumer;

  beforeAll(async () => {
    mail = await openMailDatabase();
    logDatabase = await createTestDatabase({ name: 'log', migrationsFolder: LOG_MIGRATIONS });
    pool = new pg.Pool({ connectionString: logDatabase.url, max: 6 });
    log = await PostgresLog.open({ pool, leaseMs: 2_000 });
    consumer = createAnalyticsConsumer(mail.database, log);
    await consumer.start();
  });
  afterAll(async () => {
    await consumer.stop();
    await log.close();
    await pool.end();
    await logDatabase.drop();
    await mail.close();
  });

  it('takes in every event once, also when the log is read again from its beginning', async () => {
    const organizationId = uuidv7();
    await publish(
      Array.from({ length: 30 }, () => conversation(organizationId)).flatMap((events) => [
        events.received('2026-03-01T10:00:00.000Z', { newConversation: true }),
        events.sent('2026-03-01T10:10:00.000Z', ASHA),
        events.changed('2026-03-01T11:00:00.000Z', { status: 'resolved' }),
      ]),
    );
    await drained();
    const model = await modelOf(mail.database, organizationId);
    expect(model.match(/"measure": "received"/g)).toHaveLength(30);
    expect(model.match(/"measure": "first_response"/g)).toHaveLength(30);
    expect(model.match(/"measure": "resolved"/g)).toHaveLength(30);
    await log.seek(ANALYTICS_GROUP, 'mail.events.v1', 'earliest');
    await drained();
    expect(await modelOf(mail.database, organizationId)).toBe(model);
  }, 30_000);

  it('parks the key of an event that cannot be read, and no other', async () => {
    const organizationId = uuidv7();
    const [bad, good] = [conversation(organizationId), conversation(organizationId)];
    const unreadable = bad.received('2026-03-01T10:00:00.000Z', { newConversation: true });
    const key = unreadable.partitionKey;
    await publish([
      { ...unreadable, mailboxId: 'no-uuid' },
      bad.sent('2026-03-01T10:10:00.000Z', ASHA),
      good.received('2026-03-01T10:00:00.000Z', { newConversation: true }),
    ]);
    await drained();
    const model = await modelOf(mail.database, organizationId);
    expect(model.match(/"measure": "received"/g)).toHaveLength(1);
    expect(model).not.toContain('"measure": "sent"');
    expect(await log.parked(ANALYTICS_GROUP)).toMatchObject([{ key, records: 2 }]);
  }, 30_000);

  it('finds what the journal lacks or has otherwise', async () => {
    const organizationId = uuidv7();
    const events = conversation(organizationId);
    const history = [
      events.received('2026-03-01T10:00:00.000Z', { newConversation: true }),
      events.sent('2026-03-01T10:10:00.000Z', ASHA),
      events.bounced('2026-03-01T10:20:00.000Z', true),
    ];
    await publish(history);
    await drained();
    const [, sent, bounced] = history.map(({ id }) => id.slice('evt_'.length));
    await mail.database.inTenant(organizationId, async (tx) => {
      await tx.query('delete from analytics_journal where event_id = $1', [sent]);
      await tx.query(`update analytics_journal set facts = '{"hard": false}' where event_id = $1`, [
        bounced,
      ]);
    });
    const { read, missing, different } = await compareWithLog(mail.database, log);
    expect(read).toBeGreaterThanOrEqual(93);
    expect(missing).toContain(sent);
    expect(await log.parked('analytics-comparison')).toEqual([]);
    expect(different).toEqual([bounced]);
  }, 30_000);

  it('tells how far it is behind', async () => {
    const registry = new Registry();
    registerLagGauge(registry, log);
    await drained();
    expect(await registry.metrics()).toContain('dak_mail_analytics_lag_seconds 0');
  });

  function conversation(organizationId: string) {
    return eventsIn({ organizationId, mailboxId: uuidv7(), conversationId: uuidv7() });
  }

  async function publish(events: readonly EventEnvelope[]): Promise<void> {
    await log.publish(events.map(toLogMessage));
  }

  async function drained(): Promise<void> {
    await eventually('the consumer comes to the end', async () =>
      (await log.lag(ANALYTICS_GROUP)).every(({ records }) => records === 0),
    );
  }
});
