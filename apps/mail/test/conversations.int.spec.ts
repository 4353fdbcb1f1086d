import {
  ActivityRecord,
  BulkResultRecord,
  ConversationRecord,
  MessageRecord,
} from '@dak/contracts/api';
import { uuidv7 } from '@dak/kernel';
import { closeResolved, wakeSnoozed } from '../src/conversations/changes/conversation-clockwork';
import { recordMessages } from '../src/conversations/messages/record-messages';
import {
  insertMailbox,
  newConversationIn,
  newMessage,
  principal,
  contextOf,
} from './mail-fixtures';
import {
  LIST,
  as,
  listOf,
  openMailHandlers,
  recordOf,
  updateRequest,
  type MailHandlers,
} from './mail-handlers';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe('conversations', () => {
  let mail: MailHandlers;
  let now = Date.UTC(2026, 5, 1, 9);
  const organizationId = uuidv7();
  const admin = principal({ organizationId });
  let mailboxId = '';

  beforeAll(async () => {
    mail = await openMailHandlers(() => now);
    mailboxId = (await insertMailbox(mail.database, organizationId)).id;
  });
  afterAll(() => mail.close());

  const receive = (overrides = {}) =>
    mail.receive(organizationId, mailboxId, {
      sortAt: new Date(now).toISOString(),
      ...overrides,
    });
  const reply = (id: string) =>
    receive({ conversation: { kind: 'existing', id }, sortAt: new Date(now).toISOString() });
  const get = async (id: string) =>
    ConversationRecord.parse(await recordOf(mail.conversations.getConversation({ id }, as(admin))));
  const update = (id: string, changes: Record<string, unknown>) =>
    mail.conversations.updateConversation(updateRequest(id, changes), as(admin));

  it('shows one record in list and alone, and it is the documented one', async () => {
    const { conversationId } = await receive({ subject: 'Quote "ünïcode" </script>\\ 😀' });
    const alone = await get(conversationId);
    const listed = await listOf(mail.conversations.listConversations(LIST, as(admin)));
    expect(listed.find((row) => row['id'] === conversationId)).toEqual(alone);
    expect(alone.subject).toBe('Quote "ünïcode" </script>\\ 😀');
    expect(alone.system_labels).toEqual(['unread']);
  });

  it('wakes on a reply, or at its time with the status it had', async () => {
    const until = new Date(now + HOUR).toISOString();
    const byReply = (await receive()).conversationId;
    const byTime = (await receive()).conversationId;
    await update(byTime, { status: 'waiting' });
    for (const id of [byReply, byTime]) {
      await mail.conversations.snoozeConversation({ id, until, wakeOnReply: true }, as(admin));
    }
    expect(await get(byReply)).toMatchObject({ status: 'snoozed', snoozed_until: until });
    await reply(byReply);
    expect(await get(byReply)).toMatchObject({ status: 'open', snoozed_until: null });
    expect(await wakeSnoozed(mail.database, now)).toBe(0);
    now += HOUR;
    expect(await wakeSnoozed(mail.database, now)).toBe(1);
    expect(await get(byTime)).toMatchObject({ status: 'waiting', snoozed_until: null });
  });

  it('reopens a resolved conversation until its window is over, then closes it for good', async () => {
    const { conversationId: id } = await receive();
    await update(id, { status: 'resolved' });
    now += 13 * DAY;
    await reply(id);
    expect((await get(id)).status).toBe('open');
    await update(id, { status: 'resolved' });
    now += 15 * DAY;
    await closeResolved(mail.database, now);
    expect((await get(id)).status).toBe('closed');
    await expect(update(id, { status: 'open' })).rejects.toMatchObject({
      kind: 'conflict',
      code: 'illegal_transition',
    });
    await reply(id);
    expect((await get(id)).status).toBe('closed');
  });

  it('refuses a change of another version, and says which one it has', async () => {
    const { conversationId: id } = await receive();
    const { version } = await get(id);
    await update(id, { priority: 'high', expectedVersion: version });
    await expect(
      mail.conversations.updateConversation(
        { ...updateRequest(id, { priority: 'low' }), expectedVersion: version },
        as(admin),
      ),
    ).rejects.toMatchObject({ kind: 'precondition_failed' });
    expect((await get(id)).priority).toBe('high');
  });

  it('adds and removes labels, removal first, within the grammar', async () => {
    const { conversationId: id } = await receive();
    const change = (add: string[], remove: string[]) =>
      recordOf(mail.conversations.changeLabels({ id, add, remove }, as(admin)));
    expect(await change(['vip', 'billing'], [])).toEqual({ labels: ['vip', 'billing'] });
    expect(await change(['a', 'vip'], ['vip'])).toEqual({ labels: ['billing', 'a'] });
    for (const bad of ['unread', 'Upper', '', ' x', 'a'.repeat(64), '-x']) {
      await expect(change([bad], [])).rejects.toMatchObject({ kind: 'invalid' });
    }
    await expect(
      change(
        Array.from({ length: 63 }, (_, index) => `l${index}`),
        [],
      ),
    ).rejects.toMatchObject({ kind: 'invalid' });
  });

  it('keeps note, mention and assignment out of the mail but in sight of colleagues', async () => {
    const { conversationId: id } = await receive();
    const before = await get(id);
    const colleague = uuidv7();
    const note = MessageRecord.parse(
      await recordOf(
        mail.conversations.addNote(
          { conversationId: id, bodyText: 'Please look', mentions: [colleague] },
          as(admin),
        ),
      ),
    );
    expect(note).toMatchObject({ direction: 'internal_note', mentions: [colleague] });
    await mail.conversations.assignConversation(
      {
        id,
        assignee: { type: 'user', id: colleague, name: 'Ravi' },
        setsDepartment: false,
        note: 'Yours now',
      },
      as(admin),
    );
    const after = await get(id);
    expect(after.assignee).toEqual({ type: 'user', id: colleague, name: 'Ravi' });
    expect(after).toMatchObject({
      message_count: 3,
      preview: before.preview,
      last_message_at: before.last_message_at,
      status: 'open',
    });
    const activity = await listOf(
      mail.conversations.listActivity({ conversationId: id, page: LIST.page }, as(admin)),
    );
    expect(activity.map((entry) => ActivityRecord.parse(entry).type)).toContain('assigned');
  });

  it('merges into the oldest, which the others then lead to, and splits again', async () => {
    const first = await receive({ subject: 'First' });
    now += HOUR;
    const second = await receive({ subject: 'Second' });
    const merged = await recordOf<{ id: string; message_count: number }>(
      mail.conversations.mergeConversations(
        { id: second.conversationId, sourceIds: [first.conversationId] },
        as(admin),
      ),
    );
    expect(merged).toMatchObject({ id: first.conversationId, message_count: 2 });
    expect((await get(second.conversationId)).merged_into_id).toBe(first.conversationId);
    await expect(update(second.conversationId, { priority: 'low' })).rejects.toMatchObject({
      code: 'conversation_merged',
    });
    const messages = await listOf(
      mail.conversations.listMessages(
        { conversationId: second.conversationId, page: LIST.page, includeHeaders: false },
        as(admin),
      ),
    );
    expect(messages.map((message) => message['id'])).toEqual([first.messageId, second.messageId]);

    const part = ConversationRecord.parse(
      await recordOf(
        mail.conversations.splitConversation(
          { id: first.conversationId, messageIds: [second.messageId] },
          as(admin),
        ),
      ),
    );
    expect(part).toMatchObject({ subject: 'Second', message_count: 1 });
    expect((await get(first.conversationId)).message_count).toBe(1);
    await expect(
      mail.conversations.splitConversation(
        { id: part.id, messageIds: [second.messageId] },
        as(admin),
      ),
    ).rejects.toMatchObject({ kind: 'invalid' });
  });

  it('changes many at once and says for each what came of it', async () => {
    const [a, b] = [(await receive()).conversationId, (await receive()).conversationId];
    await update(b, { status: 'resolved' });
    const missing = uuidv7();
    const answer = BulkResultRecord.parse(
      await recordOf(
        mail.conversations.changeConversations(
          {
            ids: [a, b, missing],
            action: { $case: 'snooze', value: { id: '', wakeOnReply: true } },
          },
          as(admin),
        ),
      ),
    );
    expect(answer.results.map(({ id, status }) => [id, status])).toEqual([
      [a, 200],
      [b, 409],
      [missing, 404],
    ]);
    expect((await get(a)).status).toBe('snoozed');
  });

  it('marks everything read and unread again', async () => {
    const { conversationId: id } = await receive();
    await reply(id);
    await update(id, { unread: false });
    expect(await get(id)).toMatchObject({ unread_count: 0, system_labels: [] });
    await update(id, { unread: true });
    expect(await get(id)).toMatchObject({ unread_count: 2, system_labels: ['unread'] });
  });

  it('gives every row once and none twice by cursor while mail arrives', async () => {
    const box = await insertMailbox(mail.database, organizationId);
    const ids = new Set<string>();
    for (let index = 0; index < 12; index += 1) {
      // Equal times, so that the id has to decide.
      const at = new Date(now + Math.floor(index / 3) * 1000).toISOString();
      ids.add((await mail.receive(organizationId, box.id, { sortAt: at })).conversationId);
    }
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = await mail.conversations.listConversations(
        {
          page: { page: cursor === '' ? 1 : 0, perPage: 5, cursor },
          filter: { mailboxId: box.id },
          sort: '',
        },
        as(admin),
      );
      seen.push(...(JSON.parse(page.dataJson.toString()) as { id: string }[]).map(({ id }) => id));
      cursor = page.nextCursor;
      await mail.receive(organizationId, box.id, { sortAt: new Date(now + HOUR).toISOString() });
    } while (cursor !== '');
    expect(seen.filter((id) => ids.has(id))).toHaveLength(12);
    expect(new Set(seen).size).toBe(seen.length);
  });

  it('sorts ascending, and descending with a minus, which is the default', async () => {
    const box = await insertMailbox(mail.database, organizationId);
    const ids: string[] = [];
    for (const offset of [0, 1, 2]) {
      const sortAt = new Date(now + offset * HOUR).toISOString();
      ids.push((await mail.receive(organizationId, box.id, { sortAt })).conversationId);
    }
    const listed = async (sort: string) => {
      const request = { ...LIST, filter: { mailboxId: box.id }, sort };
      const page = await mail.conversations.listConversations(request, as(admin));
      return (JSON.parse(page.dataJson.toString()) as { id: string }[]).map(({ id }) => id);
    };
    expect(await listed('last_message_at')).toEqual(ids);
    expect(await listed('created_at')).toEqual(ids);
    for (const sort of ['', '-last_message_at', '-created_at']) {
      expect(await listed(sort)).toEqual(ids.toReversed());
    }
  });

  it('refuses a cursor of another filter', async () => {
    const page = await mail.conversations.listConversations(
      { ...LIST, page: { page: 1, perPage: 1, cursor: '' } },
      as(admin),
    );
    await expect(
      mail.conversations.listConversations(
        {
          page: { page: 0, perPage: 1, cursor: page.nextCursor },
          filter: { status: 'open' },
          sort: '',
        },
        as(admin),
      ),
    ).rejects.toMatchObject({ kind: 'invalid', code: 'invalid_cursor' });
  });

  it('narrows the list by every filter, with the total of what is shown', async () => {
    const box = await insertMailbox(mail.database, organizationId);
    const made = async (subject: string, changes: Record<string, unknown> = {}) => {
      const { conversationId } = await mail.receive(organizationId, box.id, {
        subject,
        sortAt: new Date(now).toISOString(),
      });
      if (Object.keys(changes).length > 0) await update(conversationId, changes);
      return conversationId;
    };
    const department = uuidv7();
    const open = await made('open one');
    const resolved = await made('resolved one', { status: 'resolved' });
    const spam = await made('spam one', { disposition: 'spam' });
    const routed = await made('routed one', { departmentId: department });
    const labeled = await made('labeled one');
    await mail.conversations.changeLabels({ id: labeled, add: ['gold'], remove: [] }, as(admin));
    await mail.conversations.assignConversation(
      {
        id: open,
        assignee: { type: 'user', id: admin.userId, name: 'Asha' },
        setsDepartment: false,
      },
      as(admin),
    );
    const list = async (filter: Record<string, unknown>) => {
      const page = await mail.conversations.listConversations(
        { ...LIST, filter: { mailboxId: box.id, ...filter } },
        as(admin),
      );
      const ids = (JSON.parse(page.dataJson.toString()) as { id: string }[]).map(({ id }) => id);
      expect(page.total).toBe(ids.length);
      return new Set(ids);
    };
    expect(await list({})).toEqual(new Set([open, resolved, routed, labeled]));
    expect(await list({ status: 'resolved' })).toEqual(new Set([resolved]));
    expect(await list({ status: 'resolved,open' })).toEqual(
      new Set([open, resolved, routed, labeled]),
    );
    expect(await list({ status: 'all', disposition: 'all' })).toEqual(
      new Set([open, resolved, spam, routed, labeled]),
    );
    expect(await list({ status: 'nonsense' })).toEqual(new Set());
    expect(await list({ disposition: 'spam' })).toEqual(new Set([spam]));
    expect(await list({ departmentId: department })).toEqual(new Set([routed]));
    expect(await list({ label: 'gold' })).toEqual(new Set([labeled]));
    expect(await list({ assignee: 'me' })).toEqual(new Set([open]));
    expect(await list({ assignee: 'none', status: 'open' })).toEqual(new Set([routed, labeled]));
    expect(await list({ query: 'label' })).toEqual(new Set([labeled]));
    expect(await list({ before: new Date(now).toISOString() })).toEqual(new Set());
    expect(await list({ after: new Date(now - 1).toISOString(), status: 'resolved' })).toEqual(
      new Set([resolved]),
    );
  });

  it('answers a repeated POST from what it stored, and refuses its key for another body', async () => {
    const { conversationId: id } = await receive();
    const key = (requestHash: string) =>
      contextOf(admin, { key: 'k1', route: 'POST /notes', requestHash });
    const request = { conversationId: id, bodyText: 'once', mentions: [] };
    const first = await mail.conversations.addNote(request, key('h1'));
    const again = await mail.conversations.addNote(request, key('h1'));
    expect(again).toEqual({ ...first, replayed: true });
    await expect(mail.conversations.addNote(request, key('h2'))).rejects.toMatchObject({
      kind: 'refused',
      code: 'idempotency_mismatch',
    });
    expect((await get(id)).message_count).toBe(2);
  });

  it('runs a POST once when it is repeated while still running', async () => {
    const { conversationId: id } = await receive();
    const context = contextOf(admin, { key: 'k2', route: 'POST /notes', requestHash: 'h' });
    const request = { conversationId: id, bodyText: 'once', mentions: [] };
    const answers = await Promise.allSettled(
      Array.from({ length: 4 }, () => mail.conversations.addNote(request, context)),
    );
    for (const answer of answers) {
      if (answer.status === 'rejected') {
        expect(answer.reason).toMatchObject({ code: 'idempotency_in_progress' });
      }
    }
    expect((await get(id)).message_count).toBe(2);
  });

  it('reads headers and the raw message from the file, Bcc only with mail.send', async () => {
    const raw = Buffer.from(
      'From: a@b.example\r\nReceived: one\r\nReceived: two\r\nSubject: =?utf-8?q?=C3=BC?=\r\n\r\nbody\r\n',
    );
    const { sha256 } = await mail.blobs.put(organizationId, raw);
    const conversation = await newConversationIn(mail.database, organizationId);
    const message = newMessage(mailboxId, {
      conversation,
      rawSha256: sha256,
      bcc: [{ email: 'secret@example.org', name: '' }],
    });
    await mail.database.inTenant(organizationId, (tx) =>
      recordMessages(tx, organizationId, [message], now),
    );
    const ids = { conversationId: conversation.id, messageId: message.id };
    const full = MessageRecord.parse(
      await recordOf(
        mail.conversations.getMessage({ ...ids, includeHeaders: true, rawHtml: false }, as(admin)),
      ),
    );
    expect(full.headers).toEqual({
      From: ['a@b.example'],
      Received: ['one', 'two'],
      Subject: ['ü'],
    });
    expect(full.bcc).toHaveLength(1);
    const readerOnly = as(principal({ organizationId, scopes: ['mail.read'] }));
    const plain = await recordOf<{ bcc: unknown[]; headers: unknown }>(
      mail.conversations.getMessage({ ...ids, includeHeaders: false, rawHtml: false }, readerOnly),
    );
    expect(plain).toMatchObject({ bcc: [], headers: null });
    const chunks: Buffer[] = [];
    for await (const { content } of mail.conversations.getRawMessage(ids, as(admin))) {
      chunks.push(content);
    }
    expect(Buffer.concat(chunks)).toEqual(raw);
  });
});
