import { parseMessage } from '@dak/formats/rfc5322';
import type { MessageRecord } from '@dak/contracts/api';
import {
  CancelOutboxEntryRequest,
  ForwardRequest,
  ListOutboxRequest,
  MoveOutboxEntryRequest,
} from '@dak/contracts/mail';
import { uuidv7 } from '@dak/kernel';
import { recordMessages } from '../src/conversations/messages/record-messages';
import { recordInbound } from '../src/receiving/pipeline/record-inbound';
import {
  contextOf,
  insertMailbox,
  newConversationIn,
  newMessage,
  principal,
} from './mail-fixtures';
import {
  composeRequest,
  deliveriesOf,
  openSending,
  receiptOf,
  replyRequest,
  untilDeliveries,
  type Sending,
} from './submission-fixtures';

let sending: Sending;
const caller = principal();
const key = principal({ organizationId: caller.organizationId, type: 'api_key' });
let mailbox: { id: string; address: string };

beforeAll(async () => {
  sending = await openSending();
  mailbox = await insertMailbox(sending.mail.database, caller.organizationId);
});
afterAll(() => sending.close());

async function storedMessage(
  id: string,
): Promise<Record<string, unknown> & { status: MessageRecord['status'] }> {
  const [rows] = await sending.mail.database.batchInTenant(caller.organizationId, [
    {
      name: 'test_message',
      text: `select m.*, c.status as conversation_status, c.scheduled_count, c.open_draft_id
               from message m join conversation c on c.organization_id = m.organization_id and c.id = m.conversation_id
              where m.organization_id = $1 and m.id = $2`,
      values: [caller.organizationId, id],
    },
  ]);
  return rows![0] as Record<string, unknown> & { status: MessageRecord['status'] };
}

async function rawOf(id: string): Promise<Buffer> {
  return sending.blobs.get(
    caller.organizationId,
    (await storedMessage(id))['raw_sha256'] as string,
  );
}

async function inboundConversation(
  overrides = {},
): Promise<{ conversationId: string; messageId: string }> {
  const conversation = await newConversationIn(sending.mail.database, caller.organizationId);
  const message = newMessage(mailbox.id, {
    conversation,
    messageIdHeader: `${uuidv7()}@customer.example`,
    to: [{ email: mailbox.address, name: '' }],
    ...overrides,
  });
  await sending.mail.database.inTenant(caller.organizationId, (tx) =>
    recordMessages(tx, caller.organizationId, [message]),
  );
  return { conversationId: conversation.id, messageId: message.id };
}

it('accepts a mail with all that was asked, and stores it without telling anybody of Bcc', async () => {
  const receipt = receiptOf(
    await sending.handlers.compose(
      composeRequest({
        mailboxId: mailbox.id,
        to: ['Meera N <Meera@Customer.example>'],
        cc: ['jörg@bücher.example'],
        bcc: ['hidden@audit.example', 'meera@customer.example'],
        subject: 'Grüße',
        content: { bodyText: undefined, bodyHtml: '<p>Hello <b>there</b></p>', labels: ['vip'] },
      }),
      contextOf(key),
    ),
  );
  expect(receipt).toMatchObject({
    status: 'queued',
    hold: null,
    recipients: {
      to: ['Meera@customer.example'],
      cc: ['jörg@xn--bcher-kva.example'],
      bcc: ['hidden@audit.example'],
    },
  });
  expect(receipt.warnings).toEqual([expect.stringContaining('meera@customer.example')]);
  const raw = await rawOf(receipt.id);
  const parsed = parseMessage(raw);
  expect(raw.toString()).not.toContain('hidden@audit.example');
  expect(parsed.messageId).toBe(receipt.message_id_header);
  expect(parsed.subject).toBe('Grüße');
  expect(parsed.text).toContain('Hello there');
  const message = await storedMessage(receipt.id);
  expect(message).toMatchObject({
    status: 'queued',
    conversation_status: 'waiting',
    author_type: 'api_key',
  });
  expect(await deliveriesOf(sending, caller, receipt.id)).toHaveLength(3);
});

it('holds the mail of a person for the undo time and gives it back as a draft when canceled', async () => {
  const { conversationId } = await inboundConversation();
  const receipt = receiptOf(
    await sending.handlers.reply(replyRequest({ conversationId }), contextOf(caller)),
  );
  expect(receipt.hold?.reason).toBe('undo');
  expect(receipt.recipients.to).toEqual(['meera@customer.example']);
  await sending.handlers.cancelOutboxEntry(
    CancelOutboxEntryRequest.fromPartial({ id: receipt.id }),
    contextOf(caller),
  );
  const message = await storedMessage(receipt.id);
  expect(message).toMatchObject({ status: 'canceled', conversation_status: 'open' });
  expect(message['open_draft_id']).not.toBeNull();
  await expect(
    sending.handlers.cancelOutboxEntry(
      CancelOutboxEntryRequest.fromPartial({ id: receipt.id }),
      contextOf(caller),
    ),
  ).rejects.toMatchObject({ kind: 'conflict', code: 'too_late' });
});

it('leaves nothing to wait for when a new mail is taken back before it left', async () => {
  const receipt = receiptOf(
    await sending.handlers.compose(composeRequest({ mailboxId: mailbox.id }), contextOf(caller)),
  );
  expect(await storedMessage(receipt.id)).toMatchObject({ conversation_status: 'waiting' });
  await sending.handlers.cancelOutboxEntry(
    CancelOutboxEntryRequest.fromPartial({ id: receipt.id }),
    contextOf(caller),
  );
  expect(await storedMessage(receipt.id)).toMatchObject({
    status: 'canceled',
    conversation_status: 'resolved',
  });
});

it('refuses mail with nothing in it, but sends a subject or a file alone', async () => {
  const { conversationId } = await inboundConversation();
  await expect(
    sending.handlers.reply(
      replyRequest({ conversationId, content: { bodyText: ' \n' } }),
      contextOf(key),
    ),
  ).rejects.toMatchObject({ kind: 'invalid', code: 'empty_mail' });
  const empty = { mailboxId: mailbox.id, content: { bodyText: undefined } };
  await expect(
    sending.handlers.compose(composeRequest({ ...empty, subject: '' }), contextOf(key)),
  ).rejects.toThrow('body_text is missing');
  const bare = await sending.handlers.compose(composeRequest(empty), contextOf(key));
  expect(receiptOf(bare).status).toBe('queued');
});

it('drops a follow-up as soon as a person answers, not when its time comes', async () => {
  const { conversationId } = await inboundConversation();
  const sendAt = new Date(Date.now() + 3_600_000).toISOString();
  const followUp = async (cancelIfReply: boolean) =>
    receiptOf(
      await sending.handlers.reply(
        replyRequest({ conversationId, content: { sendAt, cancelIfReply } }),
        contextOf(key),
      ),
    ).id;
  const conditional = await followUp(true);
  const unconditional = await followUp(false);
  const answer = (overrides: object) =>
    sending.mail.database.inTenant(caller.organizationId, (tx) =>
      recordInbound(tx, caller.organizationId, [
        newMessage(mailbox.id, {
          conversation: { kind: 'existing', id: conversationId },
          messageIdHeader: `${uuidv7()}@customer.example`,
          ...overrides,
        }),
      ]),
    );
  const dueAt = async (id: string) =>
    Date.parse((await deliveriesOf(sending, caller, id))[0]!.next_attempt_at!);

  await answer({ kind: 'auto_reply', flags: { auto_generated: true } });
  expect(await dueAt(conditional)).toBe(Date.parse(sendAt));
  await answer({});
  const worker = await sending.worker();
  await untilDeliveries(
    sending,
    caller,
    conditional,
    ([delivery]) => delivery?.state === 'canceled',
  );
  await worker.stop();
  expect(await storedMessage(conditional)).toMatchObject({ status: 'canceled' });
  expect(await storedMessage(unconditional)).toMatchObject({
    status: 'scheduled',
    scheduled_count: 1,
    conversation_status: 'open',
  });
  await sending.handlers.cancelOutboxEntry({ id: unconditional }, contextOf(caller));
});

it('answers in the thread: subject, In-Reply-To, References and everybody but ourselves', async () => {
  const { conversationId, messageId } = await inboundConversation({
    subject: 'AW: Order 66',
    messageIdHeader: 'third@customer.example',
    references: ['first@x.example', 'second@x.example'],
    cc: [
      { email: 'boss@customer.example', name: 'Boss' },
      { email: mailbox.address.toUpperCase(), name: '' },
    ],
    replyTo: [{ email: 'orders@customer.example', name: '' }],
  });
  const receipt = receiptOf(
    await sending.handlers.reply(
      replyRequest({
        conversationId,
        replyMode: 'all',
        quoteOriginal: true,
        expectedLastMessageId: messageId,
      }),
      contextOf(key),
    ),
  );
  expect(receipt.recipients).toEqual({
    to: ['orders@customer.example'],
    cc: ['boss@customer.example'],
    bcc: [],
  });
  const parsed = parseMessage(await rawOf(receipt.id));
  expect(parsed.subject).toBe('Re: Order 66');
  expect(parsed.inReplyTo).toEqual(['third@customer.example']);
  expect(parsed.references).toEqual([
    'first@x.example',
    'second@x.example',
    'third@customer.example',
  ]);
  expect(parsed.text).toContain('> Where is my order?');
  await expect(
    sending.handlers.reply(
      replyRequest({ conversationId, expectedLastMessageId: messageId }),
      contextOf(key),
    ),
  ).rejects.toMatchObject({ kind: 'conflict', code: 'stale_reply' });
});

it('forwards with the note above the original', async () => {
  const { conversationId, messageId } = await inboundConversation();
  const receipt = receiptOf(
    await sending.handlers.forward(
      ForwardRequest.fromPartial({
        conversationId,
        messageId,
        to: ['legal@elsewhere.example'],
        content: { bodyText: 'Please have a look.' },
      }),
      contextOf(key),
    ),
  );
  const parsed = parseMessage(await rawOf(receipt.id));
  expect(parsed.subject).toBe('Fwd: Order 66');
  expect(parsed.text).toMatch(
    /^Please have a look\.\n\n-+ Forwarded message -+\nFrom: Meera <meera@customer\.example>/,
  );
  expect(parsed.inReplyTo).toEqual([]);
});

it('sends once per Idempotency-Key, also when repeats meet in one group', async () => {
  const request = composeRequest({ mailboxId: mailbox.id });
  const context = contextOf(key, { key: 'k1', route: 'POST /compose/send', requestHash: 'h' });
  const first = await sending.handlers.compose(request, context);
  const again = await sending.handlers.compose(request, context);
  expect(again.replayed).toBe(true);
  expect(again.json.equals(first.json)).toBe(true);
  const other = { ...context, idempotency: { ...context.idempotency!, requestHash: 'other' } };
  await expect(sending.handlers.compose(request, other)).rejects.toMatchObject({
    code: 'idempotency_mismatch',
  });
  const fresh = contextOf(key, { key: 'k2', route: 'POST /compose/send', requestHash: 'h' });
  const settled = await Promise.allSettled(
    Array.from({ length: 8 }, () => sending.handlers.compose(request, fresh)),
  );
  const ids = new Set(settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value.id] : [])));
  expect(ids.size).toBe(1);
});

it('lets a group of concurrent mails succeed and fail each on its own', async () => {
  const { conversationId, messageId } = await inboundConversation();
  const stale = uuidv7();
  const settled = await Promise.allSettled([
    sending.handlers.reply(
      replyRequest({ conversationId, expectedLastMessageId: stale }),
      contextOf(key),
    ),
    sending.handlers.reply(
      replyRequest({ conversationId, expectedLastMessageId: messageId }),
      contextOf(key),
    ),
    ...Array.from({ length: 20 }, () =>
      sending.handlers.compose(composeRequest({ mailboxId: mailbox.id }), contextOf(key)),
    ),
  ]);
  expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(1);
  expect(settled[0].status).toBe('rejected');
});

it('moves scheduled mail, lists it, and sends it when it is due', async () => {
  const sendAt = new Date(Date.now() + 3_600_000).toISOString();
  const receipt = receiptOf(
    await sending.handlers.compose(
      composeRequest({ mailboxId: mailbox.id, content: { sendAt } }),
      contextOf(caller),
    ),
  );
  expect(receipt.hold).toEqual({ reason: 'scheduled', until: sendAt });
  expect(await storedMessage(receipt.id)).toMatchObject({
    status: 'scheduled',
    scheduled_count: 1,
  });
  const later = new Date(Date.now() + 7_200_000).toISOString();
  const moved = await sending.handlers.moveOutboxEntry(
    MoveOutboxEntryRequest.fromPartial({ id: receipt.id, sendAt: later }),
    contextOf(caller),
  );
  expect(JSON.parse(moved.json.toString())).toMatchObject({ send_at: later, status: 'scheduled' });
  expect(parseMessage(await rawOf(receipt.id)).date?.slice(0, 19)).toBe(later.slice(0, 19));
  const page = await sending.handlers.listOutbox(
    ListOutboxRequest.fromPartial({ status: 'scheduled', page: { perPage: 10 } }),
    contextOf(caller),
  );
  expect(JSON.parse(page.dataJson.toString())).toMatchObject([{ id: receipt.id }]);
  await sending.handlers.moveOutboxEntry(
    MoveOutboxEntryRequest.fromPartial({ id: receipt.id }),
    contextOf(caller),
  );
  expect(await storedMessage(receipt.id)).toMatchObject({ status: 'queued', scheduled_count: 0 });
  const worker = await sending.worker();
  await untilDeliveries(sending, caller, receipt.id, ([one]) => one?.state === 'sent');
  await worker.stop();
  expect(await storedMessage(receipt.id)).toMatchObject({
    status: 'sent',
    conversation_status: 'waiting',
  });
});

it('refuses what it cannot do instead of leaving it out', async () => {
  const send = (content: object, fields: object = {}) =>
    sending.handlers.compose(
      composeRequest({ mailboxId: mailbox.id, ...fields, content }),
      contextOf(key),
    );
  await expect(send({ encrypt: true })).rejects.toMatchObject({
    kind: 'refused',
    code: 'encryption_unavailable',
  });
  await expect(send({ requireApproval: true })).rejects.toMatchObject({ kind: 'refused' });
  await expect(send({ sendAt: new Date().toISOString() })).rejects.toMatchObject({
    kind: 'invalid',
  });
  await expect(send({ attachmentTokens: ['upl_unknown'] })).rejects.toMatchObject({
    code: 'unknown_attachment',
  });
  await expect(send({}, { to: ['nobody'] })).rejects.toThrow('to[0]');
  await expect(send({}, { to: [] })).rejects.toMatchObject({ code: 'no_recipients' });
  await expect(send({}, { subject: 'a\r\nBcc: x@y.example' })).rejects.toThrow('subject');
  await expect(
    send({}, { to: Array.from({ length: 51 }, (_, i) => `a${i}@b.example`) }),
  ).rejects.toMatchObject({
    code: 'too_many_recipients',
  });
});

it('needs the access level send, and tells nobody else that the mailbox exists', async () => {
  const stranger = principal({ organizationId: caller.organizationId, role: 'user' });
  await expect(
    sending.handlers.compose(composeRequest({ mailboxId: mailbox.id }), contextOf(stranger)),
  ).rejects.toMatchObject({ kind: 'not_found' });
  await sending.mail.database.inTenant(caller.organizationId, (tx) =>
    tx.query('insert into mailbox_user values ($1, $2, $3, $4)', [
      caller.organizationId,
      mailbox.id,
      stranger.userId,
      'write',
    ]),
  );
  await expect(
    sending.handlers.compose(composeRequest({ mailboxId: mailbox.id }), contextOf(stranger)),
  ).rejects.toMatchObject({ kind: 'forbidden' });
});
