import { ConversationRecord } from '@dak/contracts/api';
import { type DomainError, uuidv7, type Principal } from '@dak/kernel';
import { Client } from 'pg';
import { ownDomain, principal } from './mail-fixtures';
import {
  LIST,
  as,
  createRequest,
  listOf,
  openMailHandlers,
  recordOf,
  updateRequest,
  type MailHandlers,
} from './mail-handlers';

describe('who sees what', () => {
  let mail: MailHandlers;
  const organizationId = uuidv7();
  const department = uuidv7();
  const admin = principal({ organizationId });
  const stranger = principal({ role: 'admin' });
  const reader = principal({ organizationId, role: 'user' });
  const sender = principal({ organizationId, role: 'user' });
  const colleague = principal({ organizationId, role: 'user', departmentIds: [department] });
  const unassigned = principal({ organizationId, role: 'user' });
  const mailboxIds: Record<'read' | 'send' | 'department' | 'other', string> = {
    read: '',
    send: '',
    department: '',
    other: '',
  };
  const conversationIds: Record<keyof typeof mailboxIds | 'routed', string> = {
    read: '',
    send: '',
    department: '',
    other: '',
    routed: '',
  };

  beforeAll(async () => {
    mail = await openMailHandlers();
    await ownDomain(mail.database, organizationId, 'example.org');
    for (const name of ['read', 'send', 'department', 'other'] as const) {
      const made = await mail.mailboxes.createMailbox(
        createRequest(`${name}-${uuidv7().slice(-8)}@example.org`),
        as(admin),
      );
      mailboxIds[name] = made.id;
      conversationIds[name] = (await mail.receive(organizationId, made.id)).conversationId;
    }
    await mail.mailboxes.putAssignments(
      {
        mailboxId: mailboxIds.read,
        users: [{ userId: reader.userId, access: 'read' }],
        departmentIds: [],
      },
      as(admin),
    );
    await mail.mailboxes.putAssignments(
      {
        mailboxId: mailboxIds.send,
        users: [{ userId: sender.userId, access: 'send' }],
        departmentIds: [],
      },
      as(admin),
    );
    await mail.mailboxes.putAssignments(
      { mailboxId: mailboxIds.department, users: [], departmentIds: [department] },
      as(admin),
    );
    conversationIds.routed = (await mail.receive(organizationId, mailboxIds.other)).conversationId;
    await mail.conversations.updateConversation(
      updateRequest(conversationIds.routed, { departmentId: department }),
      as(admin),
    );
  });
  afterAll(() => mail.close());

  const expected: [string, Principal, (keyof typeof conversationIds)[]][] = [
    ['an admin', admin, ['read', 'send', 'department', 'other', 'routed']],
    ['an assigned reader', reader, ['read']],
    ['an assigned sender', sender, ['send']],
    ['a member of a department', colleague, ['department', 'routed']],
    ['a user without assignment', unassigned, []],
    ['an admin of another organization', stranger, []],
  ];

  it.each(expected)('%s lists, counts, opens and finds just that', async (_who, who, names) => {
    const visible = new Set<string>(names.map((name) => conversationIds[name]));
    const page = await mail.conversations.listConversations(LIST, as(who));
    const records = JSON.parse(page.dataJson.toString()) as ConversationRecord[];
    expect(new Set(records.map((record) => record.id))).toEqual(visible);
    expect(page.total).toBe(visible.size);
    for (const record of records) ConversationRecord.parse(record);

    const found = await listOf<{ conversation_id: string }>(
      mail.conversations.search(
        { page: LIST.page, query: 'order', filter: {}, types: ['conversation'] },
        as(who),
      ),
    );
    expect(new Set(found.map((hit) => hit.conversation_id))).toEqual(visible);

    for (const id of Object.values(conversationIds)) {
      const calls = [
        () => mail.conversations.getConversation({ id }, as(who)),
        () =>
          mail.conversations.listMessages(
            { conversationId: id, page: LIST.page, includeHeaders: false },
            as(who),
          ),
        () => mail.conversations.listActivity({ conversationId: id, page: LIST.page }, as(who)),
      ];
      for (const call of calls) {
        if (visible.has(id)) await call();
        else await expect(call()).rejects.toMatchObject({ kind: 'not_found' });
      }
    }
  });

  it('answers the same for what is out of sight as for what does not exist', async () => {
    const errorOf = (id: string) =>
      mail.conversations
        .getConversation({ id }, as(reader))
        .then(() => null)
        .catch((error: unknown) => error as DomainError);
    const [hidden, missing] = [await errorOf(conversationIds.other), await errorOf(uuidv7())];
    expect(hidden?.message).toBe(missing?.message);
    expect(hidden?.code).toBe(missing?.code);
  });

  it('lets a reader read and nothing else', async () => {
    await expect(
      mail.conversations.changeLabels(
        { id: conversationIds.read, add: ['vip'], remove: [] },
        as(reader),
      ),
    ).rejects.toMatchObject({ kind: 'forbidden', code: 'missing_access' });
    await expect(
      mail.conversations.changeLabels(
        { id: conversationIds.other, add: ['vip'], remove: [] },
        as(reader),
      ),
    ).rejects.toMatchObject({ kind: 'not_found' });
  });

  it('lets a department act on the conversations routed to it', async () => {
    await expect(
      recordOf(
        mail.conversations.changeLabels(
          { id: conversationIds.routed, add: ['ours'], remove: [] },
          as(colleague),
        ),
      ),
    ).resolves.toEqual({ labels: ['ours'] });
  });

  it('hides a deleted mailbox with its conversations until it is restored', async () => {
    const made = await mail.mailboxes.createMailbox(
      createRequest(`gone-${uuidv7().slice(-8)}@example.org`),
      as(admin),
    );
    const { conversationId } = await mail.receive(organizationId, made.id);
    const before = await mail.conversations.listConversations(LIST, as(admin));
    await mail.mailboxes.deleteMailbox({ id: made.id, force: false }, as(admin));
    const after = await mail.conversations.listConversations(LIST, as(admin));
    expect(after.total).toBe(before.total - 1);
    await expect(
      mail.conversations.getConversation({ id: conversationId }, as(admin)),
    ).rejects.toMatchObject({ kind: 'not_found' });
    await expect(mail.mailboxes.getMailbox({ id: made.id }, as(admin))).rejects.toMatchObject({
      kind: 'not_found',
    });
    await mail.mailboxes.restoreMailbox({ id: made.id }, as(admin));
    await expect(
      mail.conversations.getConversation({ id: conversationId }, as(admin)),
    ).resolves.toMatchObject({ id: conversationId });
  });

  it('returns no row of any tenant table to a query without a tenant', async () => {
    const owner = new Client({ connectionString: mail.adminUrl });
    await owner.connect();
    const { rows: tables } = await owner.query<{ name: string; secured: boolean }>(
      `select c.relname as name, c.relrowsecurity as secured
         from pg_class c
         join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id'
        where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace`,
    );
    await owner.end();
    expect(tables.length).toBeGreaterThan(9);
    for (const { name, secured } of tables) {
      expect({ name, secured }).toEqual({ name, secured: true });
      const { rows } = await mail.database.pool.query<{ count: number }>(
        `select count(*) as count from ${name}`,
      );
      expect({ name, rows: rows[0]!.count }).toEqual({ name, rows: 0 });
    }
  });
});
