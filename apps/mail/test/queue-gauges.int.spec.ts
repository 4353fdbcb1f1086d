import { Registry } from 'prom-client';
import { Database } from '@dak/platform/postgres';
import { registerQueueGauges } from '../src/db/queue-gauges';
import { contextOf, insertMailbox, principal } from './mail-fixtures';
import { composeRequest, openSending, type Sending } from './submission-fixtures';

let sending: Sending;
beforeAll(async () => {
  sending = await openSending();
});
afterAll(() => sending.close());

it('counts the unfinished deliveries of all organizations and names none', async () => {
  for (const undoSeconds of [0, 60]) {
    const caller = principal();
    const { id } = await insertMailbox(sending.mail.database, caller.organizationId);
    const request = composeRequest({ mailboxId: id, content: { undoSeconds } });
    await sending.handlers.compose(request, contextOf(caller));
  }
  const registry = new Registry();
  registerQueueGauges(registry, sending.mail.database);
  const text = await registry.metrics();
  expect(text).toContain('dak_mail_deliveries{state="queued"} 1');
  expect(text).toContain('dak_mail_deliveries{state="held"} 1');
  expect(text).toContain('dak_mail_spool_messages 0');
  expect(text).toMatch(/dak_mail_delivery_overdue_seconds \d/);
});

it('tells what is held, and does not call it overdue', async () => {
  const { database } = sending.mail;
  await database.asWorker((tx) => tx.query(`update operations set outgoing = 'hold'`));
  const registry = new Registry();
  registerQueueGauges(registry, database);
  const text = await registry.metrics();
  await database.asWorker((tx) => tx.query(`update operations set outgoing = 'run'`));
  expect(text).toContain('dak_mail_outgoing_hold 1');
  expect(text).toContain('dak_mail_deliveries_held{reason="operations"} 1');
  expect(text).toContain('dak_mail_delivery_overdue_seconds 0');
});

it('counts no further than ten thousand, and still knows which waits longest', async () => {
  const { database } = sending.mail;
  const caller = principal();
  const { id } = await insertMailbox(database, caller.organizationId);
  await sending.handlers.compose(composeRequest({ mailboxId: id }), contextOf(caller));
  await database.inTenant(caller.organizationId, (tx) =>
    tx.query(
      `insert into delivery (organization_id, id, submission_id, position, role, recipient, state, priority,
                             next_attempt_at, created_at, updated_at)
       select organization_id, gen_random_uuid(), submission_id, n, role, recipient, 'queued', n % 3,
              now() - make_interval(secs => 7200 - n % 60), now(), now()
         from delivery, generate_series(1, 12000) n where organization_id = $1 and position = 0`,
      [caller.organizationId],
    ),
  );
  const scrape = async () => {
    const registry = new Registry();
    registerQueueGauges(registry, database);
    return registry.metrics();
  };
  const numberOf = (text: string, metric: string) =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${metric} `))
        ?.split(' ')[1],
    );
  const running = await scrape();
  const counted = [...running.matchAll(/^dak_mail_deliveries\{.*\} (\d+)$/gm)];
  expect(counted.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(10_000);
  expect(numberOf(running, 'dak_mail_delivery_overdue_seconds')).toBeGreaterThanOrEqual(7_199);
  expect(numberOf(running, 'dak_mail_delivery_overdue_seconds')).toBeLessThan(7_260);
  await database.inTenant(caller.organizationId, (tx) =>
    tx.query(
      `insert into organization (organization_id, name, outgoing, updated_at) values ($1, '', 'hold', now())
           on conflict (organization_id) do update set outgoing = 'hold'`,
      [caller.organizationId],
    ),
  );
  const held = await scrape();
  expect(held).toContain('dak_mail_deliveries_held{reason="organization"} 10000');
  expect(numberOf(held, 'dak_mail_delivery_overdue_seconds')).toBeLessThan(3_600);
});

it('leaves them out while the database is away, and nothing else', async () => {
  const registry = new Registry();
  const url = 'postgres://nobody@127.0.0.1:1/none';
  const away = new Database({ url, applicationName: 'test' });
  registerQueueGauges(registry, away);
  const text = await registry.metrics();
  expect(text).toContain('# TYPE dak_mail_spool_messages gauge');
  expect(text).not.toMatch(/^dak_mail/m);
  await away.close();
});
