import { uuidv7 } from '@dak/kernel';
import { recordMessages } from '../src/conversations/messages/record-messages';
import {
  insertMailbox,
  newConversationIn,
  newMessage,
  openMailDatabase,
  type MailDatabase,
} from './mail-fixtures';

describe('recording messages', () => {
  let mail: MailDatabase;
  const organizationId = uuidv7();
  beforeAll(async () => {
    mail = await openMailDatabase();
  });
  afterAll(() => mail.close());

  const statusOf = async (id: string) => {
    const { rows } = await mail.database.inTenant(organizationId, (tx) =>
      tx.query<{ status: string; waiting_since: string | null; message_count: number }>(
        'select status, waiting_since, message_count from conversation where id = $1',
        [id],
      ),
    );
    return rows[0]!;
  };

  it('moves the conversation between the sides as mail goes to and fro', async () => {
    const mailbox = await insertMailbox(mail.database, organizationId);
    const conversation = await newConversationIn(mail.database, organizationId);
    const record = (message: ReturnType<typeof newMessage>) =>
      mail.database.inTenant(organizationId, (tx) => recordMessages(tx, organizationId, [message]));
    await record(newMessage(mailbox.id, { conversation, sortAt: '2026-01-01T10:00:00.000Z' }));
    expect(await statusOf(conversation.id)).toEqual({
      status: 'open',
      waiting_since: '2026-01-01T10:00:00.000Z',
      message_count: 1,
    });
    await record(
      newMessage(mailbox.id, {
        conversation: { kind: 'existing', id: conversation.id },
        direction: 'outbound',
        status: 'queued',
        kind: null,
        unread: false,
        sortAt: '2026-01-01T11:00:00.000Z',
      }),
    );
    expect(await statusOf(conversation.id)).toEqual({
      status: 'waiting',
      waiting_since: null,
      message_count: 2,
    });
    await record(
      newMessage(mailbox.id, {
        conversation: { kind: 'existing', id: conversation.id },
        kind: 'auto_reply',
        sortAt: '2026-01-01T11:01:00.000Z',
      }),
    );
    expect((await statusOf(conversation.id)).status).toBe('waiting');
    await record(
      newMessage(mailbox.id, {
        conversation: { kind: 'existing', id: conversation.id },
        sortAt: '2026-01-01T12:00:00.000Z',
      }),
    );
    expect((await statusOf(conversation.id)).status).toBe('open');
  });

  it('stores the same mail once and names the one that is there', async () => {
    const mailbox = await insertMailbox(mail.database, organizationId);
    const dedupeKey = Buffer.from('a1b2', 'hex');
    const first = newMessage(mailbox.id, {
      conversation: await newConversationIn(mail.database, organizationId),
      dedupeKey,
    });
    const again = newMessage(mailbox.id, {
      conversation: await newConversationIn(mail.database, organizationId),
      dedupeKey,
    });
    await mail.database.inTenant(organizationId, (tx) =>
      recordMessages(tx, organizationId, [first]),
    );
    const [result] = await mail.database.inTenant(organizationId, (tx) =>
      recordMessages(tx, organizationId, [again]),
    );
    expect(result).toEqual({
      id: first.id,
      conversationId: first.conversation.id,
      mailboxId: mailbox.id,
      isDuplicate: true,
      isAnswer: false,
    });
    expect(await statusOf(again.conversation.id)).toBeUndefined();
  });

  it('keeps what PostgreSQL could not store out of texts and names', async () => {
    const mailbox = await insertMailbox(mail.database, organizationId);
    const message = newMessage(mailbox.id, {
      conversation: await newConversationIn(mail.database, organizationId),
      subject: 'nul\0 and half a pair \ud83d',
      from: { email: 'x@example.org', name: 'N\0ull' },
    });
    await mail.database.inTenant(organizationId, (tx) =>
      recordMessages(tx, organizationId, [message]),
    );
    const { rows } = await mail.database.inTenant(organizationId, (tx) =>
      tx.query('select subject, from_address from message where id = $1', [message.id]),
    );
    expect(rows).toEqual([
      {
        subject: 'nul and half a pair \ufffd',
        from_address: { email: 'x@example.org', name: 'Null' },
      },
    ]);
  });
});
