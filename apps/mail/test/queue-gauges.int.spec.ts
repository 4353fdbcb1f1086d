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
