import type { Scope } from '@dak/kernel';
import type { ApiClient } from '@dak/testing/api-client';
import { StreamClient } from '@dak/testing/event-stream';
import { eventually } from '@dak/testing/waiting';
import { describeOnBothRuns } from '../stack/distributed-stack';
import { sendMail } from '../stack/sending-mail';
import type { Stack } from '../stack/stack';
import { createKey, createTenant, signIn, type Person, type Tenant } from '../stack/tenant';
import { startWebhookSink, type WebhookSink } from '../stack/webhook-sink';

type Level = 'read' | 'write' | 'send';

describeOnBothRuns('rights', (startStack) => {
  let stack: Stack;
  let tenant: Tenant;
  let asAdmin: ApiClient;
  let people: Record<Level, Person>;

  beforeAll(async () => {
    stack = await startStack();
    tenant = await createTenant(stack, 'rightsworks', 20);
    asAdmin = stack.client(tenant.admin.session);
    people = {
      read: await addPerson('reader'),
      write: await addPerson('writer'),
      send: await addPerson('sender'),
    };
    await asAdmin.put(`/mailboxes/${tenant.open.id}/assignments`, {
      users: Object.entries(people).map(([access, { id }]) => ({ user_id: id, access })),
      department_ids: [],
    });
  }, 60_000);
  afterAll(async () => {
    await stack.close();
  });

  async function addPerson(name: string, fields: object = {}): Promise<Person> {
    const { body } = await asAdmin.post('/settings/users', {
      email: `${name}@rightsworks.example`,
      display_name: name,
      password: 'a long enough password',
      ...fields,
    });
    return signIn(stack, body);
  }

  async function addDepartment(name: string): Promise<string> {
    return (await asAdmin.post('/departments', { name })).body.id;
  }

  const as = (person: Person): ApiClient => stack.client(person.session);
  const answer = async (reply: Promise<{ status: number; headers: Headers }>) => {
    const { status, headers } = await reply;
    return [status, headers.get('x-error-code')];
  };
  const MISSING_ACCESS = [403, 'missing_access'];

  describe('of a merged conversation', () => {
    let ofSource: Person;
    let ofTarget: Person;
    let source: string;
    let target: string;
    let messageId: string;
    let attachmentId: string;

    beforeAll(async () => {
      const [north, south] = [await addDepartment('North'), await addDepartment('South')];
      ofSource = await addPerson('north', { department_ids: [north] });
      ofTarget = await addPerson('south', { department_ids: [south] });
      const [older, newer] = [tenant.closed.takeConversation(), tenant.closed.takeConversation()];
      await asAdmin.patch(`/conversations/${older.id}`, { department_id: south });
      await asAdmin.patch(`/conversations/${newer.id}`, { department_id: north });
      const merged = await asAdmin.post(`/conversations/${newer.id}/merge`, {
        source_ids: [older.id],
      });
      target = merged.body.id;
      source = target === older.id ? newer.id : older.id;
      if (target === newer.id) [ofSource, ofTarget] = [ofTarget, ofSource];
      const kept = target === older.id ? older : newer;
      [messageId, attachmentId] = [kept.messageIds[0], kept.attachmentId];
    });

    const reads = (): string[] => [
      `/conversations/${source}`,
      `/conversations/${source}/messages`,
      `/conversations/${source}/messages/${messageId}`,
      `/conversations/${source}/messages/${messageId}/raw`,
      `/conversations/${source}/messages/${messageId}/attachments/${attachmentId}`,
      `/conversations/${source}/activity`,
      `/conversations/${source}/rule-runs`,
    ];

    it('whoever may read only where it came from gets nothing, also by its old id', async () => {
      for (const path of reads()) {
        expect([path, (await as(ofSource).get(path)).status]).toEqual([path, 404]);
      }
      const { body } = await as(ofSource).get(`/drafts?conversation=${source}`);
      expect(body.data).toEqual([]);
    });

    it('whoever may read where it went reads that by the old id', async () => {
      for (const path of reads()) {
        expect([path, (await as(ofTarget).get(path)).status]).toEqual([path, 200]);
      }
      const { body } = await as(ofTarget).get(`/conversations/${source}`);
      expect(body).toMatchObject({ id: source, merged_into_id: target });
      const direct = await as(ofTarget).get(`/conversations/${target}/messages`);
      const followed = await as(ofTarget).get(`/conversations/${source}/messages`);
      expect(followed.body.data).toEqual(direct.body.data);
      expect(direct.body.total).toBe(4);
    });

    it('nothing is changed or sent by the old id by whoever does not see where it went', async () => {
      const calls: [string, object][] = [
        ['reply', { body_text: 'hello' }],
        ['forward', { to: ['x@elsewhere.example'] }],
        ['labels', { add: ['mine'] }],
        ['snooze', {}],
        ['assign', { assignee: null }],
        ['notes', { body_text: 'hello' }],
        ['split', { message_ids: [messageId] }],
      ];
      for (const [action, body] of calls) {
        const path = `/conversations/${source}/${action}`;
        expect([path, (await as(ofSource).post(path, body)).status]).toEqual([path, 404]);
        expect([path, (await as(ofTarget).post(path, body)).status]).toEqual([path, 409]);
      }
      const { status } = await as(ofSource).patch(`/conversations/${source}`, { priority: 'low' });
      expect(status).toBe(404);
      const draft = { conversation_id: source, body_text: 'hello' };
      expect((await as(ofSource).post('/drafts', draft)).status).toBe(404);
    });

    it('a chain of merges is read at its end', async () => {
      const taken = [1, 2, 3].map(() => tenant.open.takeConversation().id);
      const records = await Promise.all(
        taken.map(async (id) => (await asAdmin.get(`/conversations/${id}`)).body),
      );
      // The oldest is kept: the two newer ones first, and then what is left of them.
      const [oldest, older, newest] = records
        .sort((one, other) =>
          `${one.created_at} ${one.id}` < `${other.created_at} ${other.id}` ? -1 : 1,
        )
        .map(({ id }) => id as string);
      const merges = [
        await asAdmin.post(`/conversations/${older}/merge`, { source_ids: [newest] }),
        await asAdmin.post(`/conversations/${oldest}/merge`, { source_ids: [older] }),
      ];
      expect(merges.map(({ status }) => status)).toEqual([200, 200]);
      const totals = await Promise.all(
        taken.map(async (id) => {
          const { body } = await as(people.read).get(`/conversations/${id}/messages`);
          return body.total;
        }),
      );
      expect(totals).toEqual([6, 6, 6]);
    });
  });

  describe('to give a conversation to a department', () => {
    let department: string;
    let writer: Person;
    beforeAll(async () => {
      department = await addDepartment('Escalation');
      const departments = { department_ids: [department] };
      await asAdmin.patch(`/settings/users/${people.write.id}`, departments);
      writer = people.write;
    });

    it('needs the level send, by every way there is', async () => {
      const { id } = tenant.open.takeConversation();
      const reply = () => as(writer).post(`/conversations/${id}/reply`, { body_text: 'hello' });
      expect(await answer(reply())).toEqual(MISSING_ACCESS);
      const given = { department_id: department };
      expect(await answer(as(writer).patch(`/conversations/${id}`, given))).toEqual(MISSING_ACCESS);
      const assign = as(writer).post(`/conversations/${id}/assign`, { assignee: null, ...given });
      expect(await answer(assign)).toEqual(MISSING_ACCESS);
      for (const change of [
        { action: 'update', unread: false, ...given },
        { action: 'assign', assignee: null, ...given },
      ]) {
        const { body } = await as(writer).post('/conversations/bulk', { ids: [id], ...change });
        expect(body.results).toMatchObject([{ id, status: 403 }]);
      }
      expect(await answer(reply())).toEqual(MISSING_ACCESS);
      const { body } = await asAdmin.get(`/conversations/${id}`);
      expect(body).toMatchObject({ department_id: null, unread_count: 2 });

      expect((await as(people.send).patch(`/conversations/${id}`, given)).status).toBe(200);
      expect((await reply()).status).toBe(201);
    });

    it('needs it for a merge that gives the department of one to the other', async () => {
      const [one, two] = [tenant.open.takeConversation(), tenant.open.takeConversation()];
      await asAdmin.patch(`/conversations/${one.id}`, { department_id: department });
      const merge = { source_ids: [one.id] };
      const path = `/conversations/${two.id}/merge`;
      expect(await answer(as(writer).post(path, merge))).toEqual(MISSING_ACCESS);
      expect((await as(people.send).post(path, merge)).status).toBe(200);
    });

    it('needs it of who makes a rule that does so', async () => {
      const rule = {
        name: 'to the department',
        kind: 'department',
        mailbox_ids: [tenant.open.id],
        conditions: [{ field: 'subject', operator: 'exists' }],
        actions: [{ type: 'set_department', department_id: department }],
        enabled: false,
      };
      expect(await answer(as(writer).post('/rules', rule))).toEqual(MISSING_ACCESS);
      expect((await as(people.send).post('/rules', rule)).status).toBe(201);
    });
  });

  it('in the catalogue of labels is a matter of admins, on conversations of whoever may write', async () => {
    const { id } = tenant.open.takeConversation();
    const { body: label } = await asAdmin.post('/labels', { name: 'keep-for-audit' });
    await asAdmin.post(`/conversations/${id}/labels`, { add: ['keep-for-audit'] });
    const unassigned = await addPerson('nobody');
    for (const person of [unassigned, people.send]) {
      const client = as(person);
      const refused = [403, 'missing_role'];
      expect(await answer(client.post('/labels', { name: 'mine' }))).toEqual(refused);
      expect(await answer(client.patch(`/labels/${label.id}`, { name: 'x' }))).toEqual(refused);
      expect(await answer(client.delete(`/labels/${label.id}`))).toEqual(refused);
    }
    const { body } = await asAdmin.get(`/conversations/${id}`);
    expect(body.labels).toEqual(['keep-for-audit']);
    const change = { add: ['my-own'], remove: ['keep-for-audit'] };
    const changed = await as(people.write).post(`/conversations/${id}/labels`, change);
    expect(changed.body.labels).toEqual(['my-own']);
    expect((await asAdmin.patch(`/labels/${label.id}`, { name: 'kept' })).status).toBe(200);
    expect((await asAdmin.delete(`/labels/${label.id}`)).status).toBe(204);
    expect((await asAdmin.delete(`/labels/${label.id}`)).status).toBe(404);
    const key = await createKey(asAdmin, 'labels', ['mail.write']);
    expect((await stack.client(key.key).post('/labels', { name: 'by-key' })).status).toBe(201);
  });

  describe('of a key', () => {
    const sinks: WebhookSink[] = [];
    afterAll(() => Promise.all(sinks.map((sink) => sink.close())));

    async function openSink(): Promise<WebhookSink> {
      const sink = await startWebhookSink();
      sinks.push(sink);
      return sink;
    }

    const keyWith = async (...scopes: Scope[]) => {
      const made = await createKey(asAdmin, `with ${scopes.join(' ')}`, scopes);
      return { ...made, client: stack.client(made.key) };
    };
    const MISSING_SCOPE = [403, 'missing_scope'];
    const rule = (changes: object = {}) => ({
      name: 'by a key',
      kind: 'labeling',
      mailbox_ids: [tenant.open.id],
      conditions: [{ field: 'body', operator: 'contains', value: 'answer' }],
      actions: [{ type: 'add_labels', labels: ['by-key'] }],
      ...changes,
    });

    it('do not reach mail through webhooks without mail.read', async () => {
      const { url } = await openSink();
      const { client } = await keyWith('webhooks.manage');
      for (const event_types of [undefined, ['mail.received'], ['domain.verified', 'mail.sent']]) {
        expect(await answer(client.post('/webhooks', { url, event_types }))).toEqual(MISSING_SCOPE);
      }
      const made = await client.post('/webhooks', {
        url,
        event_types: ['agent.action', 'domain.verified'],
      });
      expect(made.status).toBe(201);
      const path = `/webhooks/${made.body.id}`;
      expect(await answer(client.patch(path, { event_types: [] }))).toEqual(MISSING_SCOPE);
      expect((await client.patch(path, { description: 'mine' })).status).toBe(200);
      await asAdmin.patch(path, { event_types: ['mail.received'] });
      expect(await answer(client.patch(path, { url }))).toEqual(MISSING_SCOPE);
      expect((await client.patch(path, { enabled: false })).status).toBe(200);
      const reader = await keyWith('webhooks.manage', 'mail.read');
      expect((await reader.client.post('/webhooks', { url })).status).toBe(201);
    });

    it('do not reach mail through rules without mail.read', async () => {
      const { client } = await keyWith('rules.manage');
      const [message_id] = tenant.open.conversation.messageIds;
      const test = { rule: rule(), message_id };
      expect(await answer(client.post('/rules/test', test))).toEqual(MISSING_SCOPE);
      const reader = await keyWith('rules.manage', 'mail.read');
      expect((await reader.client.post('/rules/test', test)).status).toBe(200);
      const { body: run } = await client.post('/rules/dry-run', {
        rule: rule(),
        from: '2020-01-01T00:00:00Z',
      });
      const seenBy = (who: ApiClient) =>
        eventually('a dry run that is done', async () => {
          const { body } = await who.get(`/rules/dry-run/${run.id}`);
          return body.status === 'done' && body;
        });
      const [blind, seeing] = [await seenBy(client), await seenBy(reader.client)];
      expect(blind.matched).toBeGreaterThan(0);
      expect(seeing.samples.length).toBeGreaterThan(0);
      expect(blind.samples).toEqual([]);
    });

    it('end with it for the webhooks and rules that it made', async () => {
      const sink = await openSink();
      const { id, client } = await keyWith('webhooks.manage', 'rules.manage', 'mail.read');
      const other = await keyWith('webhooks.manage', 'rules.manage', 'mail.read');
      const hook = (await client.post('/webhooks', { url: sink.url })).body;
      const mine = (await client.post('/rules', rule())).body;
      const others = (await other.client.post('/rules', rule({ name: 'another' }))).body;
      expect(mine).toMatchObject({ enabled: true, status: 'active', disabled_reason: null });
      await receive('before');
      await eventually('the event', () => Promise.resolve(sink.requests.length > 0));

      expect((await asAdmin.delete(`/settings/api-keys/${id}`)).status).toBe(204);
      const ended = { enabled: true, status: 'disabled', disabled_reason: 'key_revoked' };
      expect((await asAdmin.get(`/webhooks/${hook.id}`)).body).toMatchObject(ended);
      expect((await asAdmin.get(`/rules/${mine.id}`)).body).toMatchObject(ended);
      expect((await asAdmin.get(`/rules/${others.id}`)).body).toMatchObject({ status: 'active' });

      const before = sink.requests.length;
      const conversation = await receive('after');
      const { body: runs } = await eventually('runs of the other rule', async () => {
        const reply = await asAdmin.get(`/conversations/${conversation}/rule-runs`);
        return reply.body.total > 0 && reply;
      });
      expect(runs.data.map((run: { rule_id: string }) => run.rule_id)).toEqual([others.id]);
      expect(sink.requests.length).toBe(before);

      const resumed = await asAdmin.patch(`/rules/${mine.id}`, { enabled: true });
      expect(resumed.body).toMatchObject({ status: 'active', disabled_reason: null });
      const enabled = await asAdmin.patch(`/webhooks/${hook.id}`, { enabled: true });
      expect(enabled.body).toMatchObject({ status: 'active', disabled_reason: null });
      await asAdmin.delete(`/rules/${mine.id}`);
      await asAdmin.delete(`/rules/${others.id}`);
      await asAdmin.delete(`/webhooks/${hook.id}`);
    }, 30_000);

    it('end when it expires', async () => {
      const { url } = await openSink();
      const ends = new Date(Date.now() + 1_500).toISOString();
      const scopes: Scope[] = ['webhooks.manage', 'rules.manage', 'mail.read'];
      const client = stack.client((await createKey(asAdmin, 'short', scopes, ends)).key);
      const hook = (await client.post('/webhooks', { url })).body;
      const mine = (await client.post('/rules', rule())).body;
      for (const path of [`/webhooks/${hook.id}`, `/rules/${mine.id}`]) {
        await eventually(`${path} is disabled`, async () => {
          const { body } = await asAdmin.get(path);
          return body.disabled_reason === 'key_revoked';
        });
      }
    }, 30_000);
  });

  describe('to know of blind copies', () => {
    const SECRET = 'quiet-partner@elsewhere.example';
    let conversationId: string;
    let messageId: string;
    let draftId: string;
    let imported: { conversationId: string; messageId: string };
    const streams: StreamClient[] = [];
    const sinks: WebhookSink[] = [];
    let viewers: Record<string, { credential: string; sees: boolean }>;
    const hooks: { sink: WebhookSink; name: string; sees: boolean }[] = [];

    beforeAll(async () => {
      const keys = async (...scopes: Scope[]) => (await createKey(asAdmin, 'bcc', scopes)).key;
      viewers = {
        'a reader': { credential: people.read.session, sees: false },
        'a writer': { credential: people.write.session, sees: false },
        'a sender': { credential: people.send.session, sees: true },
        'an admin': { credential: tenant.admin.session, sees: true },
        'a key without mail.send': { credential: await keys('mail.read'), sees: false },
        'a key with mail.send': { credential: await keys('mail.read', 'mail.send'), sees: true },
      };
      for (const { credential } of Object.values(viewers)) {
        const stream = new StreamClient(stack.siteUrl, credential);
        await stream.ready();
        streams.push(stream);
      }
      const makers: [string, string, boolean][] = [
        ['a reader', people.read.session, false],
        ['a sender', people.send.session, true],
        ['a key without mail.send', await keys('webhooks.manage', 'mail.read'), false],
        ['a key with mail.send', await keys('webhooks.manage', 'mail.read', 'mail.send'), true],
      ];
      for (const [name, credential, sees] of makers) {
        const sink = await startWebhookSink();
        sinks.push(sink);
        const { status } = await stack
          .client(credential)
          .post('/webhooks', { url: sink.url, event_types: ['mail.sent', 'mail.received'] });
        expect([name, status]).toEqual([name, 201]);
        hooks.push({ sink, name, sees });
      }
      const text = { body_text: 'an offer', undo_seconds: 0 };
      const mail = { mailbox_id: tenant.open.id, to: ['open@elsewhere.example'], bcc: [SECRET] };
      const sent = await asAdmin.post('/compose/send', { ...mail, ...text, subject: 'Offer' });
      expect(sent.status).toBe(201);
      conversationId = sent.body.conversation_id;
      const listed = await asAdmin.get(`/conversations/${conversationId}/messages`);
      messageId = listed.body.data[0].id;
      const draft = await asAdmin.post('/drafts', { ...mail, subject: 'Next offer' });
      draftId = draft.body.id;
      const raw = [
        'From: old@elsewhere.example',
        `To: ${tenant.open.address}`,
        `Bcc: ${SECRET}`,
        'Subject: history',
        'Message-ID: <history@elsewhere.example>',
        'Date: Mon, 02 Nov 2026 10:00:00 +0000',
        '',
        'long ago',
        '',
      ].join('\r\n');
      await asAdmin.call('POST', `/mailboxes/${tenant.open.id}/imports`, {
        body: Buffer.from(raw),
        headers: { 'Content-Type': 'message/rfc822' },
      });
      imported = await eventually('the imported mail', async () => {
        const { body } = await asAdmin.get(
          `/conversations?mailbox=${tenant.open.id}&status=all&per_page=100`,
        );
        const row = (body.data as { id: string; subject: string }[]).find(
          ({ subject }) => subject === 'history',
        );
        if (row === undefined) return false;
        const { body: messages } = await asAdmin.get(`/conversations/${row.id}/messages`);
        return { conversationId: row.id, messageId: messages.data[0].id as string };
      });
    }, 60_000);
    afterAll(async () => {
      for (const stream of streams) stream.kill();
      for (const sink of sinks) await sink.close();
    });

    it('takes the level send, in everything that the API shows', async () => {
      const of = `/conversations/${conversationId}`;
      const past = `/conversations/${imported.conversationId}/messages/${imported.messageId}`;
      const paths = [
        of,
        `${of}/messages?include=headers`,
        `${of}/messages/${messageId}`,
        `${of}/activity`,
        `${past}?include=headers`,
        `${past}/raw`,
        `/drafts/${draftId}`,
        `/drafts?mailbox=${tenant.open.id}`,
      ];
      const shows: unknown[] = [];
      for (const [name, { credential, sees }] of Object.entries(viewers)) {
        let found = 0;
        for (const path of paths) {
          const { status, body } = await stack.client(credential).get(path);
          expect([name, path, status]).toEqual([name, path, 200]);
          if (JSON.stringify(body).includes(SECRET)) found += 1;
        }
        shows.push([name, sees ? found >= 5 : found]);
      }
      expect(shows).toEqual(
        Object.entries(viewers).map(([name, { sees }]) => [name, sees ? true : 0]),
      );
    });

    it('takes it in the event stream and in webhooks', async () => {
      const barrier = await receive('barrier');
      const isOfOffer = (id: unknown): boolean => id === conversationId;
      const views = Object.entries(viewers);
      for (const [index, [name, { sees }]] of views.entries()) {
        const stream = streams[index]!;
        const own = () =>
          stream
            .events()
            .filter(({ type, data }) => type === 'mail.sent' && isOfOffer(data['conversation_id']));
        await stream.until(`${name}: what was sent, and what came after`, () => {
          const isThere = stream.events().some(({ data }) => data['conversation_id'] === barrier);
          return isThere && own().length === (sees ? 2 : 1);
        });
        expect([name, JSON.stringify(stream.events()).includes(SECRET)]).toEqual([name, sees]);
      }
      for (const { sink, name, sees } of hooks) {
        const sent = () =>
          sink.of(conversationId).filter(({ event }) => event.type === 'mail.sent');
        await eventually(`${name}: its webhook`, () =>
          Promise.resolve(sink.of(barrier).length > 0 && sent().length === (sees ? 2 : 1)),
        );
        expect([name, sink.requests.some(({ body }) => body.includes(SECRET))]).toEqual([
          name,
          sees,
        ]);
      }
    }, 30_000);
  });

  describe('to change a template', () => {
    const text = (iban: string) => ({
      subject: 'Your invoice',
      body_text: `Please pay to ${iban}`,
    });

    it('are those of its creator and of admins', async () => {
      const made = await as(people.send).post('/templates', { name: 'Mine', ...text('one') });
      const path = `/templates/${made.body.id}`;
      const other = as(people.write);
      expect((await other.get(path)).status).toBe(200);
      expect((await other.post(`${path}/preview`, {})).status).toBe(200);
      expect(await answer(other.patch(path, text('theirs')))).toEqual(MISSING_ACCESS);
      expect(await answer(other.delete(path))).toEqual(MISSING_ACCESS);
      expect((await as(people.send).patch(path, text('two'))).status).toBe(200);
      expect((await asAdmin.patch(path, text('three'))).status).toBe(200);
      expect((await as(people.send).delete(path)).status).toBe(204);
      expect((await as(people.send).delete(path)).status).toBe(404);
    });

    it('do not reach rules that answer with it before they are saved again', async () => {
      const { body: template } = await as(people.write).post('/templates', {
        name: 'Receipt',
        ...text('first account'),
      });
      const actions = [{ type: 'reply_with_template', template_id: template.id }];
      const made = await asAdmin.post('/rules', {
        name: 'answer',
        mailbox_ids: [tenant.open.id],
        conditions: [{ field: 'subject', operator: 'contains', value: 'please answer' }],
        actions,
      });
      expect(made.body.actions[0].template_version).toBe(1);
      const change = await as(people.write).patch(
        `/templates/${template.id}`,
        text('second account'),
      );
      expect(change.body.version).toBe(2);
      const answerTo = async (subject: string) => {
        const id = await receive(subject);
        return eventually('the answer of the rule', async () => {
          const { body } = await asAdmin.get(`/conversations/${id}/messages`);
          return (body.data as { direction: string; body_text: string }[]).find(
            ({ direction }) => direction === 'outbound',
          )?.body_text;
        });
      };
      expect(await answerTo('please answer once')).toContain('first account');
      const path = `/rules/${made.body.id}`;
      await asAdmin.patch(path, { name: 'another name' });
      expect((await asAdmin.get(path)).body.actions[0].template_version).toBe(1);
      const saved = await asAdmin.patch(path, { actions });
      expect(saved.body.actions[0].template_version).toBe(2);
      expect(await answerTo('please answer twice')).toContain('second account');
      const old = await asAdmin.patch(path, { actions: [{ ...actions[0], template_version: 1 }] });
      expect(old.body.actions[0].template_version).toBe(1);
      const none = await asAdmin.patch(path, { actions: [{ ...actions[0], template_version: 3 }] });
      expect(none.status).toBe(400);
      expect(none.body.error).toContain('actions[0].template_version');
      await asAdmin.delete(path);
    }, 30_000);
  });

  /** A new conversation in the open mailbox; its id. */
  async function receive(text: string): Promise<string> {
    const subject = `${tenant.unique()} ${text}`;
    const raw = `From: Ada <ada@elsewhere.example>\r\nTo: ${tenant.open.address}\r\nSubject: ${subject}\r\nMessage-ID: <${tenant.unique()}@elsewhere.example>\r\n\r\nthe answer\r\n`;
    expect(await sendMail(stack.smtpPort, { to: [tenant.open.address], raw })).toMatch(/^250/);
    return eventually(`a conversation with the subject ${subject}`, async () => {
      const { body } = await asAdmin.get(`/conversations?mailbox=${tenant.open.id}&per_page=100`);
      return (body.data as { id: string; subject: string }[]).find((row) => row.subject === subject)
        ?.id;
    });
  }
});
