import { CancelOutboxEntryRequest, ListOutboxRequest } from '@dak/contracts/mail';
import {
  drop,
  reply,
  silence,
  startSmtpSink,
  tryAgainIn,
  type SmtpSink,
} from '@dak/testing/smtp-sink';
import { eventually, slowPeer } from '@dak/testing/waiting';
import type { Transport } from '../src/delivery/transports/transport';
import { principal, contextOf, insertMailbox, outboxEvents } from './mail-fixtures';
import {
  composeRequest,
  deliveriesOf,
  openSending,
  receiptOf,
  relayTo,
  untilDeliveries,
  type Sending,
} from './submission-fixtures';

let sending: Sending;
let sink: SmtpSink;
const caller = principal({ type: 'api_key' });
let mailbox: { id: string; address: string };

beforeEach(async () => {
  sending = await openSending();
  sink = await startSmtpSink();
  mailbox = await insertMailbox(sending.mail.database, caller.organizationId);
});
afterEach(async () => {
  await sending.close();
  await sink.stop();
});

async function send(to: string[], bcc: string[] = [], bodyText = 'Hello'): Promise<string> {
  const request = composeRequest({ mailboxId: mailbox.id, to, bcc, content: { bodyText } });
  return receiptOf(await sending.handlers.compose(request, contextOf(caller))).id;
}

async function admin<Row>(text: string, values: unknown[] = []): Promise<Row[]> {
  return sending.mail.database.inTenant(caller.organizationId, async (tx) => {
    const { rows } = await tx.query<Row>(text, values);
    return rows;
  });
}

async function eventTypes(): Promise<string[]> {
  return (await outboxEvents(sending.mail.database)).map(({ type }) => type);
}

it('hands all recipients of a message over in one transaction and tells of each', async () => {
  await sending.worker(relayTo(sink.port));
  const id = await send(['a@one.example', 'b@two.example'], ['c@three.example']);
  const [message] = await sink.waitForMessages(1);
  expect(message!.recipients).toEqual(['a@one.example', 'b@two.example', 'c@three.example']);
  expect(message!.mailFrom).toBe(mailbox.address);
  expect(message!.raw.toString()).not.toContain('three.example');
  await untilDeliveries(sending, caller, id, (all) => all.every(({ state }) => state === 'sent'));
  expect(await eventTypes()).toEqual([
    'conversation.updated',
    'mail.sent',
    'mail.sent',
    'mail.sent',
  ]);
  expect(await admin('select status from message where id = $1', [id])).toEqual([
    { status: 'sent' },
  ]);
});

it('gives each recipient the fate that the server names', async () => {
  sink.setScript(({ phase, recipient }) => {
    if (phase !== 'rcpt') return undefined;
    if (recipient === 'gone@one.example') return reply(550, '5.1.1 No such user');
    if (recipient === 'later@one.example') return tryAgainIn(120);
    return undefined;
  });
  await sending.worker(relayTo(sink.port));
  const id = await send(['fine@one.example', 'gone@one.example', 'later@one.example']);
  const all = await untilDeliveries(sending, caller, id, (some) =>
    some.every(({ state }) => state !== 'queued' && state !== 'sending'),
  );
  expect(all.map(({ state, smtp_code }) => [state, smtp_code])).toEqual([
    ['sent', 250],
    ['failed', 550],
    ['deferred', 450],
  ]);
  const wait = Date.parse(all[2]!.next_attempt_at!) - Date.now();
  expect(wait).toBeGreaterThan(100_000);
  expect(wait).toBeLessThan(150_000);
  expect(await eventTypes()).toContain('mail.failed');
});

it.each(['connect', 'mail', 'rcpt', 'data', 'body'] as const)(
  'tries again when the connection dies at %s, and sends once',
  async (phase) => {
    sink.onNext(phase, drop());
    await sending.worker(relayTo(sink.port));
    // More than the buffers of a connection hold: else all of it is sent before its death shows.
    const text = phase === 'body' ? 'A long mail.\n'.repeat(150_000) : 'Hello';
    const id = await send(['a@one.example'], [], text);
    await untilDeliveries(sending, caller, id, ([one]) => one?.state === 'deferred');
    await admin('update delivery set next_attempt_at = now()');
    await untilDeliveries(sending, caller, id, ([one]) => one?.state === 'sent');
    expect(sink.accepted).toBe(1);
  },
);

it('waits with a mail whose final dot went unanswered, then tries once more with the same Message-ID, and never a third time', async () => {
  sink.onNext('final_dot', drop());
  await sending.worker(relayTo(sink.port), { uncertainWaitMs: 300 });
  const id = await send(['a@one.example']);
  await untilDeliveries(sending, caller, id, ([one]) => one?.state === 'uncertain');
  await untilDeliveries(sending, caller, id, ([one]) => one?.state === 'sent');
  expect(sink.messages).toHaveLength(2);
  expect(sink.messages[0]!.raw.equals(sink.messages[1]!.raw)).toBe(true);

  sink.clear();
  sink.onNext('final_dot', drop(), 5);
  const other = await send(['b@one.example']);
  const [last] = await untilDeliveries(
    sending,
    caller,
    other,
    ([one]) => one?.state === 'uncertain' && one.next_attempt_at === null,
  );
  expect(last!.attempts).toBe(2);
  expect(sink.messages).toHaveLength(2);
});

it('is never both canceled and sent', async () => {
  await sending.worker(relayTo(sink.port));
  const outcomes = await Promise.all(
    Array.from({ length: 30 }, async (_, index) => {
      const id = await send([`r${index}@one.example`]);
      await slowPeer((index % 6) * 3);
      const request = CancelOutboxEntryRequest.fromPartial({ id });
      const canceled = await sending.handlers.cancelOutboxEntry(request, contextOf(caller)).then(
        () => true,
        () => false,
      );
      const [one] = await untilDeliveries(
        sending,
        caller,
        id,
        ([row]) => row?.state === 'sent' || row?.state === 'canceled',
      );
      return { canceled, state: one!.state, recipient: one!.recipient };
    }),
  );
  const arrived = new Set(sink.messages.flatMap(({ recipients }) => recipients));
  for (const { canceled, state, recipient } of outcomes) {
    expect(state).toBe(canceled ? 'canceled' : 'sent');
    expect(arrived.has(recipient)).toBe(!canceled);
  }
});

it('delivers to a mailbox of another tenant through its spool, once, also when nothing may leave', async () => {
  const other = principal();
  const theirs = await insertMailbox(sending.mail.database, other.organizationId);
  await sending.worker();
  const id = await send([theirs.address, 'outside@one.example']);
  await untilDeliveries(sending, caller, id, (all) => all.every(({ state }) => state === 'sent'));
  const [spooled] = await sending.mail.database.batchInTenant(other.organizationId, [
    {
      name: 'test_spool',
      text: 'select mailbox_id, source, recipient, raw from inbound_spool',
      values: [],
    },
  ]);
  expect(spooled).toHaveLength(1);
  expect(spooled![0]).toMatchObject({
    mailbox_id: theirs.id,
    source: 'local',
    recipient: theirs.address,
  });
  expect(String(spooled![0]!['raw'])).toMatch(/^Received: by dak\.test id /);
  expect(await admin('select transport from delivery order by position')).toEqual([
    { transport: 'local' },
    { transport: 'capture' },
  ]);
});

it('keeps mail while it is not settled whose the domain of its sender is, and refuses it once it is not', async () => {
  const id = await send(['a@one.example']);
  await admin(`update domain set status = 'pending', is_contested = true`);
  await sending.worker(relayTo(sink.port));
  await untilDeliveries(sending, caller, id, ([one]) => one?.state === 'deferred');
  await admin('update domain set is_contested = false');
  await admin('update delivery set next_attempt_at = now()');
  await untilDeliveries(sending, caller, id, ([one]) => one?.state === 'failed');
  expect(sink.accepted).toBe(0);
});

it('does not try again and again at once what cannot be read', async () => {
  jest.spyOn(sending.blobs, 'get').mockRejectedValue(new TypeError('damaged'));
  await sending.worker(relayTo(sink.port));
  const id = await send([mailbox.address]);
  await eventually(() => sending.errors.length > 0);
  const other = await send(['a@one.example']);
  await untilDeliveries(sending, caller, other, ([one]) => one?.state === 'deferred');
  const [one] = await deliveriesOf(sending, caller, id);
  expect(one).toMatchObject({ state: 'sending', attempts: 1 });
});

it('serves a healthy server beside more organizations with tarpits than there are places for slow mail', async () => {
  const isTarpit = (recipient: string) => recipient.endsWith('@tarpit.example');
  let ended = 0;
  const transport: Transport = {
    name: 'relay',
    routeOf: (recipient) => recipient,
    send: async ({ recipients }, _onPhase, _organizationId, giveWay) => {
      const [recipient = ''] = recipients;
      if (!isTarpit(recipient)) return [{ recipient, outcome: 'accepted', phase: 'accepted' }];
      await new Promise((resolve) => giveWay?.addEventListener('abort', resolve));
      ended += 1;
      return [{ recipient, outcome: 'deferred', phase: 'greeting', reason: 'too slow' }];
    },
    close: () => Promise.resolve(),
  };
  const options = { maxDeliveries: 8, maxSlow: 8, slowAfterMs: 50, leaseSeconds: 600 };
  const worker = await sending.worker(transport, options);
  for (let count = 0; count < 6; count += 1) {
    const neighbor = principal({ type: 'api_key' });
    const { id } = await insertMailbox(sending.mail.database, neighbor.organizationId);
    const to = Array.from({ length: 8 }, (_, index) => `a${index}@tarpit.example`);
    const request = composeRequest({ mailboxId: id, to });
    await sending.handlers.compose(request, contextOf(neighbor));
  }
  await eventually(() => ended > 0);
  const id = await send(['ann@healthy.example']);
  await untilDeliveries(sending, caller, id, (all) => all[0]?.state === 'sent');
  await worker.stop(0);
});

it('does not send for a mailbox that was deleted meanwhile', async () => {
  const id = await send(['a@one.example']);
  await admin('update mailbox set deleted_at = now()');
  await sending.worker(relayTo(sink.port));
  await untilDeliveries(sending, caller, id, ([one]) => one?.state === 'canceled');
  expect(sink.accepted).toBe(0);
});

describe('after a crash', () => {
  /** A delivery as a process leaves it that was killed at a phase. */
  async function abandoned(
    phase: string | null,
    owner: string,
    leaseUntil = `now() + interval '1 minute'`,
  ): Promise<string> {
    const id = await send(['a@one.example']);
    await admin(
      `update delivery set state = 'sending', lease_owner = $1, lease_until = ${leaseUntil}, lease_epoch = 1, attempts = 1, phase = $2`,
      [owner, phase],
    );
    return id;
  }

  async function ownerOf(process: string): Promise<string> {
    const worker = await sending.worker(relayTo(sink.port), { process });
    await worker.stop();
    const { readFile } = await import('node:fs/promises');
    return readFile(`${sending.folder}/${process}/process.name`, 'utf8');
  }

  it('a restarted process takes up at once what it had not handed over', async () => {
    const id = await abandoned(null, await ownerOf('a'));
    await sending.worker(relayTo(sink.port));
    await untilDeliveries(sending, caller, id, ([one]) => one?.state === 'sent');
    expect(sink.accepted).toBe(1);
  });

  it('another process leaves a lease alone until it has run out', async () => {
    const id = await abandoned(null, 'somebody');
    const worker = await sending.worker(relayTo(sink.port), { leaseSeconds: 0.3 });
    const other = await send(['a@one.example']);
    await untilDeliveries(sending, caller, other, ([one]) => one?.state === 'sent');
    expect(await deliveriesOf(sending, caller, id)).toMatchObject([{ state: 'sending' }]);
    await admin(`update delivery set lease_until = now() - interval '1 second'`);
    await untilDeliveries(sending, caller, id, ([one]) => one?.state === 'sent');
    await worker.stop();
  });

  it('an unknown outcome stays uncertain instead of being sent again at once', async () => {
    const id = await abandoned('final_dot', await ownerOf('a'));
    await sending.worker(relayTo(sink.port));
    const [one] = await untilDeliveries(sending, caller, id, ([row]) => row?.state === 'uncertain');
    const wait = Date.parse(one!.next_attempt_at!) - Date.now();
    expect(wait).toBeGreaterThan(14 * 60_000);
    expect(sink.accepted).toBe(0);
    const shown =
      'select s.status, m.status as of_message from submission s join message m using (id)';
    expect(await admin(shown)).toEqual([{ status: 'uncertain', of_message: 'uncertain' }]);
    const page = ListOutboxRequest.fromPartial({
      page: { page: 1, perPage: 25 },
      status: 'uncertain',
    });
    const listed = await sending.handlers.listOutbox(page, contextOf(caller));
    expect(JSON.parse(Buffer.from(listed.dataJson).toString())).toMatchObject([{ id }]);
  });

  it('scheduled mail that may have left does not wait in its conversation any more', async () => {
    const id = await abandoned('final_dot', await ownerOf('a'));
    await admin(`update message set status = 'scheduled'`);
    await admin('update conversation set scheduled_count = 1');
    await sending.worker(relayTo(sink.port));
    await untilDeliveries(sending, caller, id, ([row]) => row?.state === 'uncertain');
    expect(await admin('select scheduled_count from conversation')).toEqual([
      { scheduled_count: 0 },
    ]);
  });

  it('a mail that may go out once at most is not tried a second time', async () => {
    const id = await abandoned('final_dot', await ownerOf('a'));
    await admin('update submission set at_most_once = true');
    await sending.worker(relayTo(sink.port), { uncertainWaitMs: 0 });
    const [one] = await untilDeliveries(sending, caller, id, ([row]) => row?.state === 'uncertain');
    expect(one!.next_attempt_at).toBeNull();
  });

  it('an acceptance in the journal is not sent a second time', async () => {
    const id = await abandoned('final_dot', await ownerOf('a'));
    const [row] = await admin<{ id: string }>('select id from delivery');
    const { appendFile } = await import('node:fs/promises');
    const entry = {
      organizationId: caller.organizationId,
      deliveryId: row!.id,
      epoch: 1,
      transport: 'relay',
      smtpCode: 250,
      enhanced: '2.0.0',
      text: 'Ok',
    };
    await appendFile(`${sending.folder}/a/deliveries.journal`, `${JSON.stringify(entry)}\n{"torn`);
    await sending.worker(relayTo(sink.port));
    await untilDeliveries(sending, caller, id, ([one]) => one?.state === 'sent');
    expect(sink.accepted).toBe(0);
    expect(await eventTypes()).toContain('mail.sent');
  });
});

it('keeps the lease while a server takes its time, and gives up on silence without a second copy', async () => {
  sink.onNext('final_dot', silence());
  await sending.worker(relayTo(sink.port, { finalDot: 900 }), { leaseSeconds: 0.5 });
  const id = await send(['a@one.example']);
  const [one] = await untilDeliveries(sending, caller, id, ([row]) => row?.state === 'uncertain');
  expect(one!.attempts).toBe(1);
  expect(sink.messages.length).toBeLessThanOrEqual(1);
});
