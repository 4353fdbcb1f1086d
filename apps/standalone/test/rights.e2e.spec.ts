import type { ApiClient } from '@dak/testing/api-client';
import { describeOnBothRuns } from './distributed-stack';
import type { Stack } from './stack';
import { createKey, createTenant, signIn, type Person, type Tenant } from './tenant';

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
        .sort((one, other) => one.number - other.number)
        .map(({ id }) => id as string);
      await asAdmin.post(`/conversations/${older}/merge`, { source_ids: [newest] });
      await asAdmin.post(`/conversations/${oldest}/merge`, { source_ids: [older] });
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
});
