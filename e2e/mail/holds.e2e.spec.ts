import type { ApiClient } from '@dak/testing/api-client';
import { startSmtpSink, type SmtpSink } from '@dak/testing/smtp-sink';
import { eventually, timePasses } from '@dak/testing/waiting';
import { describeOnBothRuns } from '../stack/distributed-stack';
import { createSender, outboxEntry, type Sender } from '../stack/outgoing-mail';
import { removeDataDir, startDak, temporaryDataDir, type RunningDak } from '../stack/running-dak';
import type { Stack } from '../stack/stack';
import { superadminSession } from '../stack/tenant';
import { startWebhookSink, type WebhookSink } from '../stack/webhook-sink';
import { withDatabase } from '../stack/stack-databases';

/** When nothing stands in its way, mail has left long before. */
const LONG_MS = 1_500;

describeOnBothRuns('what is stopped on its way out', (startStack) => {
  let sink: SmtpSink;
  let hooks: WebhookSink;
  let stack: Stack;
  let platform: ApiClient;
  let stopped: Sender;
  let other: Sender;
  let count = 0;

  beforeAll(async () => {
    sink = await startSmtpSink();
    hooks = await startWebhookSink();
    stack = await startStack({ transport: `smtp://127.0.0.1:${sink.port}` });
    platform = stack.client(await superadminSession(stack));
    stopped = await createSender(stack, 'stopped');
    other = await createSender(stack, 'other');
  }, 120_000);
  afterAll(async () => {
    await stack.close();
    await sink.stop();
    await hooks.close();
  });

  const newAddress = () => `recipient-${(count += 1)}@elsewhere.example`;
  const copies = (address: string) =>
    sink.messages.filter(({ recipients }) => recipients.includes(address)).length;
  const arrival = (address: string) =>
    eventually(`no mail came to ${address}`, () => Promise.resolve(copies(address) > 0));
  const organization = (change: object) =>
    platform.patch(`/admin/organizations/${stopped.organizationId}`, change);
  const operations = async (change: object) => {
    const { status, body } = await platform.patch('/admin/operations', change);
    expect(status).toBe(200);
    return body as unknown;
  };
  /** Mail of somebody else that was accepted later has gone out, and so much time has passed. */
  const barrier = async (): Promise<void> => {
    await timePasses(LONG_MS);
    const address = newAddress();
    await other.send(address);
    await arrival(address);
  };
  /** One that waits to be undone, one that is scheduled: both fall due soon. */
  const sendSoon = async () => {
    const addresses = [newAddress(), newAddress()];
    const ids = [
      await stopped.send(addresses[0]!, { undo_seconds: 1 }),
      await stopped.send(addresses[1]!, { send_at: new Date(Date.now() + 90_000).toISOString() }),
    ];
    // Nobody may schedule so near.
    await withDatabase(stack.databases.mail.adminUrl, async (database) => {
      const soon = `now() + interval '1 second'`;
      await database.query(
        `update delivery set next_attempt_at = ${soon} where submission_id = $1`,
        [ids[1]],
      );
      await database.query(`update submission set hold_until = ${soon} where id = $1`, [ids[1]]);
    });
    return { addresses, ids };
  };
  const expectEachOnce = async ({ addresses, ids }: { addresses: string[]; ids: string[] }) => {
    for (const id of ids) await outboxEntry(stopped, id, ({ status }) => status === 'sent');
    await barrier();
    expect(addresses.map(copies)).toEqual(addresses.map(() => 1));
  };

  it('goes on once when a suspended organization is active again', async () => {
    const mail = await sendSoon();
    await organization({ status: 'suspended' });
    await barrier();
    expect(mail.addresses.map(copies)).toEqual([0, 0]);
    await organization({ status: 'active' });
    await expectEachOnce(mail);
  }, 60_000);

  it('goes on once when a disabled mailbox is active again', async () => {
    const mail = await sendSoon();
    const mailbox = `/mailboxes/${stopped.mailboxId}`;
    await stopped.client.patch(mailbox, { status: 'disabled' });
    await barrier();
    for (const id of mail.ids) {
      const entry = await outboxEntry(
        stopped,
        id,
        ({ hold }) => hold?.reason === 'mailbox_disabled',
      );
      expect(['queued', 'scheduled']).toContain(entry.status);
    }
    expect(mail.addresses.map(copies)).toEqual([0, 0]);
    await stopped.client.patch(mailbox, { status: 'active' });
    await expectEachOnce(mail);
  }, 60_000);

  it('waits while the outgoing mail of its organization is held, and no other', async () => {
    const held = await organization({ outgoing: 'hold' });
    expect(held.body).toMatchObject({ status: 'active', outgoing: 'hold' });
    const addresses = [newAddress()];
    const ids = [await stopped.send(addresses[0]!)];
    await barrier();
    expect(copies(addresses[0]!)).toBe(0);
    await outboxEntry(stopped, ids[0]!, ({ hold }) => hold?.reason === 'outgoing_held');
    expect((await organization({ outgoing: 'run' })).body).toMatchObject({ outgoing: 'run' });
    await expectEachOnce({ addresses, ids });
  }, 60_000);

  it('can be withdrawn while it is held', async () => {
    await organization({ outgoing: 'hold' });
    const address = newAddress();
    const id = await stopped.send(address);
    expect((await stopped.client.delete(`/outbox/${id}`)).status).toBe(204);
    await organization({ outgoing: 'run' });
    await barrier();
    expect(copies(address)).toBe(0);
  }, 60_000);

  it('waits while all outgoing mail is held, which the audit log tells', async () => {
    expect(await operations({ outgoing: 'hold' })).toMatchObject({
      outgoing: 'hold',
      webhooks: 'run',
    });
    const addresses = [newAddress(), newAddress()];
    const ids = await Promise.all(addresses.map((address) => stopped.send(address)));
    const later = newAddress();
    await other.send(later);
    for (const id of ids) {
      await outboxEntry(stopped, id, ({ hold }) => hold?.reason === 'outgoing_held');
    }
    await timePasses(LONG_MS);
    expect([...addresses, later].map(copies)).toEqual([0, 0, 0]);
    expect((await platform.get('/admin/operations')).body).toMatchObject({ outgoing: 'hold' });
    await operations({ outgoing: 'run' });
    await arrival(later);
    await expectEachOnce({ addresses, ids });
    const { body } = await platform.get('/audit?action=operations.updated');
    const changes = (body.data as { details: { changes: unknown } }[]).map(
      ({ details }) => details.changes,
    );
    expect(changes).toEqual(expect.arrayContaining([{ outgoing: 'hold' }, { outgoing: 'run' }]));
  }, 60_000);

  it('holds webhooks without an attempt lost, while mail goes on', async () => {
    const made = await stopped.client.post('/webhooks', {
      url: hooks.url,
      event_types: ['mail.sent'],
    });
    expect(made.status).toBe(201);
    const webhookId = made.body.id as string;
    const eventsOf = (id: string) =>
      hooks.requests.filter(({ event }) => event.data['message_id'] === id).length;
    const first = await stopped.send(newAddress());
    await eventually('no webhook came', () => Promise.resolve(eventsOf(first) === 1));
    await operations({ webhooks: 'hold' });
    // Each process that holds a lane learns of it with the next renewal at the latest.
    await timePasses(4_000);
    const ids = await Promise.all([1, 2, 3].map(() => stopped.send(newAddress())));
    await barrier();
    const waiting = await eventually('the deliveries were not made', async () => {
      const { body } = await stopped.client.get(`/webhooks/${webhookId}/deliveries?state=pending`);
      const rows = body.data as { attempts: number }[];
      return rows.length === 3 && rows;
    });
    expect(waiting.map(({ attempts }) => attempts)).toEqual([0, 0, 0]);
    expect(ids.map(eventsOf)).toEqual([0, 0, 0]);
    await operations({ webhooks: 'run' });
    await eventually('webhooks did not go on', () =>
      Promise.resolve(ids.every((id) => eventsOf(id) > 0)),
    );
    await barrier();
    expect(ids.map(eventsOf)).toEqual([1, 1, 1]);
    const { body } = await stopped.client.get(`/webhooks/${webhookId}`);
    expect(body).toMatchObject({ status: 'active', breaker: { state: 'closed' } });
  }, 60_000);

  it('is for superadmins in person', async () => {
    for (const client of [stopped.client, stack.client(stack.seed.apiKey)]) {
      expect((await client.get('/admin/operations')).status).toBe(403);
      expect((await client.patch('/admin/operations', { outgoing: 'hold' })).status).toBe(403);
    }
    expect((await platform.patch('/admin/operations', { outgoing: 'off' })).status).toBe(400);
    expect((await platform.patch('/admin/operations', { outgong: 'hold' })).status).toBe(400);
  });
});

describe('a hold of outgoing mail', () => {
  const dataDir = temporaryDataDir();
  let sink: SmtpSink;
  let dak: RunningDak | null = null;
  afterAll(async () => {
    await dak?.stop();
    await sink.stop();
    removeDataDir(dataDir);
  });

  it('outlives a stop and a kill of the process, and what it held goes out once', async () => {
    sink = await startSmtpSink();
    const start = () => startDak(dataDir, { DAK_MAIL_TRANSPORT: `smtp://127.0.0.1:${sink.port}` });
    const operations = async (running: RunningDak, method: string, change?: object) => {
      const { email, password } = running.bootstrap.superadmin;
      const login = await running.api('POST', '/auth/login', { email, password });
      const authorization = `Bearer ${(login.body as { access_token: string }).access_token}`;
      return running.api(method, '/admin/operations', change, { authorization });
    };
    dak = await start();
    expect((await operations(dak, 'PATCH', { outgoing: 'hold' })).status).toBe(200);
    const mailboxes = await dak.api('GET', '/mailboxes');
    const [mailbox] = (mailboxes.body as { data: { id: string }[] }).data;
    const recipients: string[] = [];
    const send = async (running: RunningDak, round: string) => {
      for (let number = 0; number < 5; number += 1) {
        const to = `${round}-${number}@elsewhere.example`;
        const { status } = await running.api('POST', '/compose/send', {
          mailbox_id: mailbox!.id,
          to: [to],
          subject: 'Held',
          body_text: 'Hello',
          undo_seconds: 0,
        });
        expect(status).toBe(201);
        recipients.push(to);
      }
    };
    await send(dak, 'before-the-kill');
    await dak.kill();
    dak = await start();
    await send(dak, 'before-the-stop');
    await dak.stop();
    dak = await start();
    await send(dak, 'at-last');
    expect((await operations(dak, 'GET')).body).toMatchObject({ outgoing: 'hold' });
    await timePasses(LONG_MS);
    expect(sink.messages).toHaveLength(0);
    await operations(dak, 'PATCH', { outgoing: 'run' });
    await sink.waitForMessages(recipients.length);
    const running = dak;
    await eventually('some are not told as sent', async () => {
      const { body } = await running.api('GET', '/outbox');
      return (body as { total_count?: number; data: unknown[] }).data.length === 0;
    });
    expect(sink.messages.flatMap((message) => message.recipients).sort()).toEqual(
      recipients.sort(),
    );
  }, 180_000);
});
