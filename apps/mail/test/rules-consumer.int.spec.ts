import pg from 'pg';
import { join } from 'node:path';
import { EventEnvelope, MailReceived } from '@dak/contracts/events';
import type { Principal } from '@dak/kernel';
import { PostgresLog, toLogMessage, type LogMessage } from '@dak/platform/log';
import { createTestDatabase, type TestDatabase } from '@dak/testing/database';
import { eventually } from '@dak/testing/waiting';
import { createRuleCache } from '../src/rules/definition/rule-cache';
import { createRuleConsumer, type RuleConsumer } from '../src/rules/runs/rule-consumer';
import { insertMailbox, principal } from './mail-fixtures';
import { openRules, type Rules } from './rule-fixtures';

let rules: Rules;
let logDatabase: TestDatabase;
const logs: { log: PostgresLog; pool: pg.Pool }[] = [];
const consumers: RuleConsumer[] = [];
beforeAll(async () => {
  rules = await openRules();
  logDatabase = await createTestDatabase({
    name: 'log',
    migrationsFolder: join(__dirname, '../../../libs/platform/log/migrations'),
  });
});
afterEach(async () => {
  await Promise.all(consumers.splice(0).map((consumer) => consumer.stop()));
});
afterAll(async () => {
  for (const { log, pool } of logs) {
    await log.close();
    await pool.end();
  }
  await rules.close();
  await logDatabase.drop();
});

async function openLog(): Promise<PostgresLog> {
  const pool = new pg.Pool({ connectionString: logDatabase.url, max: 4 });
  const log = await PostgresLog.open({ pool, onError: () => undefined });
  logs.push({ log, pool });
  return log;
}

/** A replica: a log client, a rule cache and a consumer of its own. */
async function startReplica(): Promise<PostgresLog> {
  const log = await openLog();
  const consumer = createRuleConsumer({ ...rules.deps, rulesOf: createRuleCache(), log });
  consumers.push(consumer);
  await consumer.start();
  return log;
}

type Stored = Awaited<ReturnType<Rules['store']>>;

function eventOf(caller: Principal, arrival: Stored): LogMessage {
  return toLogMessage(
    EventEnvelope.fromPartial({
      id: arrival.eventId,
      type: 'mail.received',
      source: 'mail',
      organizationId: caller.organizationId,
      mailboxId: arrival.mailboxId,
      conversationId: arrival.conversationId,
      messageId: arrival.messageId,
      partitionKey: `${caller.organizationId}:${arrival.conversationId}`,
      sequence: 1,
      occurredAt: new Date(),
      data: Buffer.from(MailReceived.encode(MailReceived.fromPartial({})).finish()),
    }),
  );
}

describe('the consumer of rules', () => {
  it('meets each mail once, in order per conversation, over replicas and repeated records', async () => {
    const admin = principal();
    const mailbox = await insertMailbox(rules.database, admin.organizationId);
    await rules.create(admin, {
      actions: [
        { type: 'add_labels', labels: ['seen'] },
        { type: 'forward', to: 'archive@partner.example' },
      ],
    });
    const arrivals: Stored[] = [];
    for (let index = 0; index < 8; index += 1) {
      const first = await rules.store(admin, mailbox.id);
      const conversation = { kind: 'existing' as const, id: first.conversationId };
      arrivals.push(first);
      for (let more = 0; more < 3; more += 1) {
        arrivals.push(await rules.store(admin, mailbox.id, { conversation }));
      }
    }
    const log = await startReplica();
    await startReplica();
    const messages = arrivals.map((arrival) => eventOf(admin, arrival));
    await log.publish(messages);
    // As a broker repeats a batch whose acknowledgment was lost.
    await log.publish(messages);
    const runsOf = () =>
      rules.query<{ conversation_id: string; message_id: string }>(
        admin.organizationId,
        'select conversation_id, message_id from rule_run order by id',
      );
    await eventually(
      'all mail has met the rule',
      async () => (await runsOf()).length >= arrivals.length,
    );
    await eventually('the repetitions are read', async () =>
      (await log.lag('rules')).every(({ records }) => records === 0),
    );
    const runs = await runsOf();
    expect(runs).toHaveLength(arrivals.length);
    const order = (rows: readonly { conversation: string; message: string }[]) =>
      Object.fromEntries(
        [...Map.groupBy(rows, ({ conversation }) => conversation)]
          .sort()
          .map(([id, own]) => [id, own.map(({ message }) => message)]),
      );
    expect(
      order(runs.map((run) => ({ conversation: run.conversation_id, message: run.message_id }))),
    ).toEqual(
      order(arrivals.map((one) => ({ conversation: one.conversationId, message: one.messageId }))),
    );
    expect(await rules.sentMail(admin)).toHaveLength(arrivals.length);
  });

  it('parks an event that it cannot read, and goes on with other conversations', async () => {
    const admin = principal();
    const mailbox = await insertMailbox(rules.database, admin.organizationId);
    await rules.create(admin, {});
    const log = await startReplica();
    const good = await rules.store(admin, mailbox.id);
    const bad = await rules.store(admin, mailbox.id);
    const broken = { ...eventOf(admin, bad), payload: Buffer.from('no envelope') };
    await log.publish([broken, eventOf(admin, good)]);
    await eventually('the good one is done', async () =>
      (await rules.conversation(admin, good.conversationId)).labels.includes('seen'),
    );
    await eventually('the bad one is parked', async () =>
      (await log.parked('rules')).some(({ key }) => key === broken.key),
    );
  });

  it('tells of a conversation that takes no more labels, beside others that do', async () => {
    const admin = principal();
    const mailbox = await insertMailbox(rules.database, admin.organizationId);
    await rules.create(admin, {});
    const stored = await Promise.all(
      Array.from({ length: 6 }, () => rules.store(admin, mailbox.id)),
    );
    await rules.query(
      admin.organizationId,
      `update conversation set labels = array(select 'l' || n from generate_series(1, 64) n) where id = $1`,
      [stored[0]!.conversationId],
    );
    const log = await startReplica();
    await log.publish(stored.map((arrival) => eventOf(admin, arrival)));
    await eventually('all are done', async () => {
      const states = await Promise.all(
        stored.slice(1).map(({ conversationId }) => rules.conversation(admin, conversationId)),
      );
      return states.every(({ labels }) => labels.includes('seen'));
    });
    await eventually('the full one says why', async () => {
      const [run] = await rules.runs(admin, stored[0]!.conversationId);
      return run?.actions[0]?.outcome === 'failed';
    });
  });
});
