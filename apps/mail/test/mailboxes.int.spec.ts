import { LabelRecord, MailboxRecord, SearchHitRecord } from '@dak/contracts/api';
import { uuidv7 } from '@dak/kernel';
import { Client } from 'pg';
import { ownDomain, principal } from './mail-fixtures';
import {
  LIST,
  as,
  createRequest,
  listOf,
  openMailHandlers,
  recordOf,
  type MailHandlers,
} from './mail-handlers';

describe('mailboxes', () => {
  let mail: MailHandlers;
  const organizationId = uuidv7();
  const admin = principal({ organizationId });
  const manager = principal({ organizationId, role: 'user' });
  const unique = () => `box-${uuidv7().slice(-10)}@example.org`;

  beforeAll(async () => {
    mail = await openMailHandlers();
    await ownDomain(mail.database, organizationId, 'example.org');
  });
  afterAll(() => mail.close());

  const create = async (request: Parameters<typeof mail.mailboxes.createMailbox>[0], who = admin) =>
    MailboxRecord.parse(await recordOf(mail.mailboxes.createMailbox(request, as(who))));

  it('makes one with everything in its place', async () => {
    const address = unique();
    const made = await create({
      ...createRequest(address.toUpperCase()),
      displayName: ' Support ',
      settingsJson: Buffer.from('{"time_zone":"Asia/Kolkata"}'),
      metadataJson: Buffer.from('{"team":"north","size":3}'),
    });
    expect(made).toMatchObject({
      address,
      display_name: 'Support',
      kind: 'hosted',
      agent_mode: 'approve',
      settings: { time_zone: 'Asia/Kolkata', undo_seconds: 10 },
      metadata: { team: 'north', size: 3 },
      counts: { open: 0, unread: 0 },
      version: 1,
    });
  });

  it('takes a local part in a domain, which need not be named where there is one', async () => {
    const localPart = `l${uuidv7().slice(-10)}`;
    const request = { ...createRequest(''), address: undefined, localPart };
    const made = await create(request);
    expect(made.address).toBe(`${localPart}@example.org`);
    const owner = principal();
    for (const name of ['first.example', 'second.example']) {
      await ownDomain(mail.database, owner.organizationId, name);
    }
    await expect(create(request, owner)).rejects.toMatchObject({ kind: 'invalid' });
    await expect(create({ ...request, domainId: made.domain_id! }, owner)).rejects.toMatchObject({
      kind: 'invalid',
    });
    const first = await create(createRequest('x@first.example'), owner);
    const named = await create({ ...request, domainId: first.domain_id! }, owner);
    expect(named).toMatchObject({
      address: `${localPart}@first.example`,
      domain_id: first.domain_id,
    });
    const both = { ...createRequest('y@second.example'), domainId: first.domain_id! };
    await expect(create(both, owner)).rejects.toMatchObject({ kind: 'invalid' });
  });

  it('refuses an address twice, and one of another organization whether it is there or not', async () => {
    const address = unique();
    await create(createRequest(address));
    await expect(create(createRequest(address))).rejects.toMatchObject({
      kind: 'conflict',
      code: 'address_taken',
      message: 'address is already in use: choose another one.',
    });
    const other = principal();
    await ownDomain(mail.database, other.organizationId, 'other.example');
    for (const foreign of [address, unique(), 'x@sub.other.example', 'x@example']) {
      await expect(create(createRequest(foreign), other)).rejects.toMatchObject({
        kind: 'refused',
        code: 'domain_not_owned',
      });
    }
  });

  it('keeps the address of a deleted mailbox for its restoration', async () => {
    const address = unique();
    const { id } = await create(createRequest(address));
    await mail.mailboxes.deleteMailbox({ id, force: false }, as(admin));
    await expect(create(createRequest(address))).rejects.toMatchObject({
      kind: 'conflict',
      code: 'address_reserved',
    });
    const restored = await recordOf(mail.mailboxes.restoreMailbox({ id }, as(admin)));
    expect(restored).toMatchObject({ id, address });
    await expect(create(createRequest(address))).rejects.toMatchObject({ code: 'address_taken' });
    await mail.mailboxes.deleteMailbox({ id, force: false }, as(admin));
    await mail.database.inTenant(organizationId, (tx) =>
      tx.query(`update mailbox set deleted_at = now() - interval '31 days' where id = $1`, [id]),
    );
    expect((await create(createRequest(address))).id).not.toBe(id);
  });

  it('answers a client_id that was used before with the mailbox it made', async () => {
    const request = { ...createRequest(unique()), clientId: uuidv7() };
    const made = await create(request);
    expect(await create({ ...request, address: unique() })).toEqual(made);
  });

  it('assigns whoever makes one without seeing the whole organization', async () => {
    const made = await create(createRequest(unique()), manager);
    expect(made.assigned_user_ids).toEqual([manager.userId]);
    const seen = await mail.mailboxes.getVisibility({}, as(manager));
    expect(seen).toEqual({ all: false, mailboxIds: [made.id] });
    const listed = await mail.mailboxes.listMailboxes(
      { page: LIST.page, query: '', includeDeleted: false },
      as(manager),
    );
    expect(listed.total).toBe(1);
  });

  it('merge-patches settings and metadata under a version', async () => {
    const made = await create({
      ...createRequest(unique()),
      metadataJson: Buffer.from('{"a":1,"b":2}'),
    });
    const update = (changes: Record<string, unknown>, expectedVersion?: number) =>
      mail.mailboxes.updateMailbox(
        {
          id: made.id,
          fields: ['settings', 'metadata'],
          departmentIds: [],
          assignedUserIds: [],
          settingsJson: Buffer.from(JSON.stringify(changes['settings'] ?? {})),
          metadataJson: Buffer.from(JSON.stringify(changes['metadata'] ?? {})),
          expectedVersion,
        },
        as(admin),
      );
    const patched = MailboxRecord.parse(
      await recordOf(update({ settings: { undo_seconds: 0 }, metadata: { a: null, c: true } }, 1)),
    );
    expect(patched.metadata).toEqual({ b: 2, c: true });
    expect(patched.settings).toMatchObject({ undo_seconds: 0, plus_addressing: true });
    expect(patched.version).toBe(2);
    await expect(update({}, 1)).rejects.toMatchObject({ kind: 'precondition_failed' });
    await expect(update({ settings: { undo_seconds: 121 } })).rejects.toMatchObject({
      kind: 'invalid',
    });
    await expect(update({ settings: { time_zone: 'Mars/Olympus' } })).rejects.toMatchObject({
      kind: 'invalid',
    });
  });

  it('counts what is in it', async () => {
    const made = await create(createRequest(unique()));
    await mail.receive(organizationId, made.id);
    await mail.receive(organizationId, made.id, { unread: false });
    const record = MailboxRecord.parse(
      await recordOf(mail.mailboxes.getMailbox({ id: made.id }, as(admin))),
    );
    expect(record.counts).toMatchObject({ open: 2, unread: 1 });
    expect(record.usage.storage_bytes).toBe(2000);
  });
});

describe('labels', () => {
  let mail: MailHandlers;
  const organizationId = uuidv7();
  const admin = principal({ organizationId });
  beforeAll(async () => {
    mail = await openMailHandlers();
    await ownDomain(mail.database, organizationId, 'example.org');
  });
  afterAll(() => mail.close());

  it('renames and removes a label wherever it is', async () => {
    const box = await mail.mailboxes.createMailbox(
      createRequest(`labels-${uuidv7().slice(-10)}@example.org`),
      as(admin),
    );
    const { conversationId: id } = await mail.receive(organizationId, box.id);
    await mail.conversations.changeLabels({ id, add: ['vip', 'x'], remove: [] }, as(admin));
    const made = LabelRecord.parse(
      await recordOf(mail.labels.createLabel({ name: 'vip', color: '#FF0000' }, as(admin))),
    );
    expect(made.color).toBe('#ff0000');
    await expect(mail.labels.createLabel({ name: 'vip' }, as(admin))).rejects.toMatchObject({
      kind: 'conflict',
      code: 'label_exists',
    });
    const labelsNow = async () =>
      (await recordOf<{ labels: string[] }>(mail.conversations.getConversation({ id }, as(admin))))
        .labels;
    await mail.labels.updateLabel({ id: made.id, fields: ['name'], name: 'gold' }, as(admin));
    expect(await labelsNow()).toEqual(['x', 'gold']);
    const listed = await listOf(mail.labels.listLabels({ page: LIST.page }, as(admin)));
    expect(listed.map((label) => label['name'])).toEqual(['gold']);
    await mail.labels.deleteLabel({ id: made.id }, as(admin));
    expect(await labelsNow()).toEqual(['x']);
    await expect(mail.labels.deleteLabel({ id: made.id }, as(admin))).rejects.toMatchObject({
      kind: 'not_found',
    });
  });

  it('finishes a deletion and a new name that were interrupted when they are asked for again', async () => {
    const box = await mail.mailboxes.createMailbox(
      createRequest(`again-${uuidv7().slice(-10)}@example.org`),
      as(admin),
    );
    const { conversationId: id } = await mail.receive(organizationId, box.id);
    await mail.conversations.changeLabels({ id, add: ['hold'], remove: [] }, as(admin));
    const made = await recordOf<{ id: string }>(
      mail.labels.createLabel({ name: 'hold' }, as(admin)),
    );
    const rename = () =>
      mail.labels.updateLabel({ id: made.id, fields: ['name'], name: 'kept' }, as(admin));
    const remove = () => mail.labels.deleteLabel({ id: made.id }, as(admin));
    const labelsNow = async () =>
      (await recordOf<{ labels: string[] }>(mail.conversations.getConversation({ id }, as(admin))))
        .labels;
    const owner = new Client({ connectionString: mail.adminUrl });
    await owner.connect();
    const interrupted = async (work: () => Promise<unknown>) => {
      await owner.query(`
        create function refuse() returns trigger language plpgsql as $$ begin raise 'interrupted'; end $$;
        create trigger refuse before update on conversation for each row execute function refuse()`);
      await expect(work()).rejects.toThrow('interrupted');
      await owner.query('drop trigger refuse on conversation; drop function refuse()');
    };
    try {
      await interrupted(rename);
      await rename();
      expect(await labelsNow()).toEqual(['kept']);
      await interrupted(remove);
      expect(await labelsNow()).toEqual(['kept']);
      await remove();
      expect(await labelsNow()).toEqual([]);
    } finally {
      await owner.end();
    }
  });

  it('is not for regular users to change', async () => {
    const user = as(principal({ organizationId, role: 'user' }));
    const id = uuidv7();
    for (const change of [
      async () => mail.labels.createLabel({ name: 'x' }, user),
      async () => mail.labels.updateLabel({ id, fields: [] }, user),
      async () => mail.labels.deleteLabel({ id }, user),
    ]) {
      await expect(change()).rejects.toMatchObject({ code: 'missing_role' });
    }
  });
});

describe('search', () => {
  let mail: MailHandlers;
  const organizationId = uuidv7();
  const admin = principal({ organizationId });
  let mailboxId = '';
  beforeAll(async () => {
    mail = await openMailHandlers();
    await ownDomain(mail.database, organizationId, 'example.org');
    mailboxId = (
      await mail.mailboxes.createMailbox(
        createRequest(`search-${uuidv7().slice(-10)}@example.org`),
        as(admin),
      )
    ).id;
  });
  afterAll(() => mail.close());

  const search = (query: string, types: string[] = ['message']) =>
    listOf(
      mail.conversations.search({ page: LIST.page, query, filter: {}, types }, as(admin)),
    ).then((hits) => hits.map((hit) => SearchHitRecord.parse(hit)));

  it('finds beginnings of words, addresses, phrases and what is not excluded', async () => {
    const refund = await mail.receive(organizationId, mailboxId, {
      subject: 'Refund for <b>invoice</b> 4711',
      from: { email: 'meera.nair@customer.example', name: 'Meera Nair' },
      textNew: 'The refund was promised last week.',
    });
    const invoice = await mail.receive(organizationId, mailboxId, {
      subject: 'Invoice attached',
      from: { email: 'ravi@other.example', name: 'Ravi' },
      textNew: 'Please pay the invoice.',
    });
    const idsOf = async (query: string) => (await search(query)).map((hit) => hit.id);
    expect(await idsOf('refu')).toEqual([refund.messageId]);
    expect(await idsOf('nair')).toEqual([refund.messageId]);
    expect(await idsOf('meera.nair@customer.example')).toEqual([refund.messageId]);
    expect(await idsOf('customer.example')).toEqual([refund.messageId]);
    expect(new Set(await idsOf('invoice'))).toEqual(new Set([refund.messageId, invoice.messageId]));
    expect(await idsOf('invoice -refund')).toEqual([invoice.messageId]);
    expect(await idsOf('"promised last week"')).toEqual([refund.messageId]);
    expect(await idsOf("o'; drop table -- \\ & | ! :* ( '")).toEqual([]);
    expect(await idsOf('???')).toEqual([]);
  });

  it('marks what it found and escapes everything else', async () => {
    const [hit] = await search('refund');
    expect(hit?.highlights['subject']).toEqual([
      '<mark>Refund</mark> for &lt;b&gt;invoice&lt;/b&gt; 4711',
    ]);
    expect(hit?.highlights['text']?.[0]).toContain('<mark>refund</mark>');
  });

  it('gives each conversation once, by its best message', async () => {
    const { conversationId } = await mail.receive(organizationId, mailboxId, {
      subject: 'zebra zebra',
    });
    await mail.receive(organizationId, mailboxId, {
      conversation: { kind: 'existing', id: conversationId },
      subject: 'Re: zebra',
    });
    const hits = await search('zebra', ['conversation']);
    expect(hits.map((hit) => hit.id)).toEqual([conversationId]);
    expect(await search('zebra', [])).toHaveLength(3);
  });
});
