import { uuidv7, type Principal } from '@dak/kernel';
import { contextOf, insertMailbox, principal } from './mail-fixtures';
import { openRules, recordOf, ruleDefinition, type Rules, type StoredRule } from './rule-fixtures';

let rules: Rules;
beforeAll(async () => {
  rules = await openRules();
});
afterAll(() => rules.close());

let admin: Principal;
let user: Principal;
let mailbox: { id: string; address: string };
let hidden: { id: string; address: string };
beforeEach(async () => {
  admin = principal();
  user = principal({ organizationId: admin.organizationId, role: 'user', userName: 'Ravi' });
  mailbox = await insertMailbox(rules.database, admin.organizationId);
  hidden = await insertMailbox(rules.database, admin.organizationId);
  await assign(user.userId, mailbox.id, 'send');
});

async function assign(userId: string, mailboxId: string, access: string | null): Promise<void> {
  await rules.query(
    admin.organizationId,
    'delete from mailbox_user where mailbox_id = $1 and user_id = $2',
    [mailboxId, userId],
  );
  if (access === null) return;
  await rules.query(
    admin.organizationId,
    'insert into mailbox_user (organization_id, mailbox_id, user_id, access) values ($1, $2, $3, $4)',
    [admin.organizationId, mailboxId, userId, access],
  );
}

const page = { page: 1, perPage: 25, cursor: '' };

describe('the rules of a regular user', () => {
  it('name mailboxes that the user sees, never all', async () => {
    await expect(rules.create(user, {})).rejects.toThrow(/mailbox_ids must name mailboxes/);
    await expect(rules.create(user, { mailbox_ids: [mailbox.id, hidden.id] })).rejects.toThrow(
      /mailbox_ids\[1\] is not a mailbox that you see/,
    );
    await expect(rules.create(user, { mailbox_ids: [uuidv7()] })).rejects.toThrow(
      /mailbox_ids\[0\] is not a mailbox that you see/,
    );
    expect(await rules.create(user, { mailbox_ids: [mailbox.id] })).toMatchObject({
      created_by: user.userId,
    });
  });

  it('do not do what the assignment does not include', async () => {
    await assign(user.userId, mailbox.id, 'read');
    const sees = { mailbox_ids: [mailbox.id] };
    await expect(rules.create(user, sees)).rejects.toThrow(/access level write/);
    await rules.create(user, {
      ...sees,
      actions: [{ type: 'notify_webhook', webhook_id: uuidv7() }],
    });
    await assign(user.userId, mailbox.id, 'write');
    await rules.create(user, sees);
    const forwarding = { ...sees, actions: [{ type: 'forward', to: 'a@b.example' }] };
    await expect(rules.create(user, forwarding)).rejects.toThrow(/access level send/);
    await assign(user.userId, mailbox.id, 'send');
    await rules.create(user, forwarding);
    const key = { ...user, scopes: ['rules.manage' as const] };
    await expect(rules.create(key, forwarding)).rejects.toThrow(/mail.send/);
  });

  it('stop where the user has lost the mailbox, and skip what they may no longer do', async () => {
    await rules.create(user, {
      mailbox_ids: [mailbox.id],
      actions: [
        { type: 'add_labels', labels: ['mine'] },
        { type: 'forward', to: 'a@b.example' },
      ],
    });
    await assign(user.userId, mailbox.id, 'write');
    const first = await rules.receive(admin, mailbox.id);
    const [run] = await rules.runs(admin, first.conversationId);
    expect(run!.actions).toEqual([
      { type: 'add_labels', outcome: 'done', error: null },
      {
        type: 'forward',
        outcome: 'skipped',
        error: expect.stringContaining('may no longer do this'),
      },
    ]);
    await assign(user.userId, mailbox.id, null);
    const second = await rules.receive(admin, mailbox.id);
    expect(await rules.runs(admin, second.conversationId)).toEqual([]);
    expect((await rules.conversation(admin, second.conversationId)).labels).toEqual([]);
  });

  it('follow what the gateway says of the person: role, departments, deactivation', async () => {
    const departmentId = uuidv7();
    await rules.query(
      admin.organizationId,
      'insert into mailbox_department (organization_id, mailbox_id, department_id) values ($1, $2, $3)',
      [admin.organizationId, hidden.id, departmentId],
    );
    const put = (version: number, changes: object) =>
      rules.tenants.putUser(
        {
          organizationId: admin.organizationId,
          userId: admin.userId,
          role: 'admin',
          active: true,
          departmentIds: [],
          version,
          ...changes,
        },
        contextOf(admin),
      );
    await rules.create(admin, {});
    const isRun = async () => {
      const { conversationId } = await rules.receive(admin, hidden.id);
      const rows = await rules.query(
        admin.organizationId,
        'select from rule_run where conversation_id = $1',
        [conversationId],
      );
      return rows.length === 1;
    };
    expect(await isRun()).toBe(true);
    await put(2, { role: 'user' });
    expect(await isRun()).toBe(false);
    await put(3, { role: 'user', departmentIds: [departmentId] });
    expect(await isRun()).toBe(true);
    await put(4, { active: false });
    // Late and older: it says nothing any more.
    await put(3, {});
    expect(await isRun()).toBe(false);
    await put(5, {});
    expect(await isRun()).toBe(true);
  });

  it('do not assign to somebody who has been deactivated', async () => {
    await rules.create(admin, {
      actions: [{ type: 'assign', user_id: user.userId, user_name: 'Ravi' }],
    });
    await rules.tenants.putUser(
      {
        organizationId: admin.organizationId,
        userId: user.userId,
        role: 'user',
        active: false,
        departmentIds: [],
        version: 1,
      },
      contextOf(admin),
    );
    const { conversationId } = await rules.receive(admin, mailbox.id);
    const [run] = await rules.runs(admin, conversationId);
    expect(run!.actions).toMatchObject([{ outcome: 'failed' }]);
    expect((await rules.conversation(admin, conversationId)).assignee_id).toBeNull();
  });

  it('do not reach further because an admin edits them', async () => {
    const rule = await rules.create(user, { mailbox_ids: [mailbox.id] });
    await rules.handlers.updateRule(
      { id: rule.id, fields: ['mailbox_ids'], rule: ruleDefinition({ mailbox_ids: [] }) },
      contextOf(admin),
    );
    const there = await rules.receive(admin, hidden.id);
    expect(await rules.runs(admin, there.conversationId)).toEqual([]);
    const here = await rules.receive(admin, mailbox.id);
    expect(await rules.runs(admin, here.conversationId)).toHaveLength(1);
  });

  it('are their own: others see them only as admins', async () => {
    const mine = await rules.create(user, { mailbox_ids: [mailbox.id] });
    const theirs = await rules.create(admin, {});
    const idsOf = async (caller: Principal) => {
      const answer = await rules.handlers.listRules({ page }, contextOf(caller));
      return {
        ids: (JSON.parse(answer.dataJson.toString()) as StoredRule[]).map(({ id }) => id),
        total: answer.total,
      };
    };
    expect(await idsOf(user)).toEqual({ ids: [mine.id], total: 1 });
    expect(await idsOf(admin)).toEqual({ ids: [mine.id, theirs.id], total: 2 });
    const stranger = principal();
    expect(await idsOf(stranger)).toEqual({ ids: [], total: 0 });
    for (const [caller, id] of [
      [user, theirs.id],
      [stranger, mine.id],
      [stranger, theirs.id],
    ] as const) {
      const context = contextOf(caller);
      const rule = ruleDefinition({});
      const calls = [
        () => rules.handlers.getRule({ id }, context),
        () => rules.handlers.updateRule({ id, fields: ['name'], rule }, context),
        () => rules.handlers.deleteRule({ id }, context),
        () => rules.handlers.listRuleVersions({ ruleId: id, page }, context),
        () => rules.handlers.listRuleRuns({ ruleId: id, page }, context),
      ];
      for (const call of calls) {
        await expect(Promise.resolve().then(call)).rejects.toMatchObject({ kind: 'not_found' });
      }
    }
  });

  it('tell of runs only in conversations that the reader sees now', async () => {
    const rule = await rules.create(user, { mailbox_ids: [mailbox.id] });
    const { conversationId } = await rules.receive(admin, mailbox.id);
    const runsOf = async (caller: Principal) =>
      (await rules.handlers.listRuleRuns({ ruleId: rule.id, page }, contextOf(caller))).total;
    expect(await runsOf(user)).toBe(1);
    await assign(user.userId, mailbox.id, null);
    expect(await runsOf(user)).toBe(0);
    expect(await runsOf(admin)).toBe(1);
    await expect(rules.runs(user, conversationId)).rejects.toMatchObject({ kind: 'not_found' });
  });

  it('are tested on messages that the user sees only', async () => {
    const { messageId } = await rules.store(admin, hidden.id);
    const subject = {
      $case: 'rule' as const,
      value: ruleDefinition({ mailbox_ids: [mailbox.id] }),
    };
    await expect(
      rules.handlers.testRule({ subject, messageId }, contextOf(user)),
    ).rejects.toMatchObject({ kind: 'not_found' });
    const own = await rules.store(admin, mailbox.id);
    const answer = await rules.handlers.testRule(
      { subject, messageId: own.messageId },
      contextOf(user),
    );
    expect(recordOf(answer)).toEqual({
      matched: true,
      applies: true,
      conditions: [],
      actions: [{ type: 'add_labels', outcome: 'planned', error: null }],
    });
    expect((await rules.conversation(admin, own.conversationId)).labels).toEqual([]);
  });
});

describe('a rule', () => {
  it('has versions, and is changed under If-Match', async () => {
    const rule = await rules.create(admin, { name: 'one' });
    const rename = (name: string, expectedVersion?: number) =>
      rules.handlers.updateRule(
        { id: rule.id, expectedVersion, fields: ['name'], rule: ruleDefinition({ name }) },
        contextOf(admin),
      );
    expect((await rename('two', 1)).version).toBe(2);
    await expect(Promise.resolve().then(() => rename('three', 1))).rejects.toMatchObject({
      kind: 'precondition_failed',
    });
    // Nothing new makes no version.
    expect((await rename('two')).version).toBe(2);
    const versions = await rules.handlers.listRuleVersions(
      { ruleId: rule.id, page },
      contextOf(admin),
    );
    expect(JSON.parse(versions.dataJson.toString())).toMatchObject([
      { version: 2, name: 'two', changed_by: admin.userId },
      { version: 1, name: 'one' },
    ]);
    await expect(
      Promise.resolve().then(() =>
        rules.handlers.deleteRule({ id: rule.id, expectedVersion: 1 }, contextOf(admin)),
      ),
    ).rejects.toMatchObject({ kind: 'precondition_failed' });
    await rules.handlers.deleteRule({ id: rule.id, expectedVersion: 2 }, contextOf(admin));
    const { conversationId } = await rules.receive(admin, mailbox.id);
    expect(await rules.runs(admin, conversationId)).toEqual([]);
  });

  it('can be turned off when a mailbox that it names is gone, and not on again', async () => {
    const gone = await insertMailbox(rules.database, admin.organizationId);
    const rule = await rules.create(admin, { mailbox_ids: [gone.id] });
    await rules.query(admin.organizationId, 'update mailbox set deleted_at = now() where id = $1', [
      gone.id,
    ]);
    const change = async (fields: { enabled?: boolean; name?: string }) =>
      rules.handlers.updateRule(
        { id: rule.id, fields: Object.keys(fields), rule: ruleDefinition(fields) },
        contextOf(admin),
      );
    await change({ enabled: false });
    await change({ name: 'kept for later' });
    await expect(change({ enabled: true })).rejects.toThrow(/mailbox_ids\[0\]/);
  });

  it('is one of 200 of an organization, also when many are made at once', async () => {
    await rules.query(
      admin.organizationId,
      `insert into rule (organization_id, id, name, kind, actions, owner_id, owner_role, created_at, updated_at)
       select $1, gen_random_uuid(), 'r' || n, 'automation', '[]', $2, 'admin', now(), now()
         from generate_series(1, 198) as n`,
      [admin.organizationId, admin.userId],
    );
    const results = await Promise.allSettled([1, 2, 3, 4].map(() => rules.create(admin, {})));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    await expect(rules.create(admin, {})).rejects.toMatchObject({ code: 'rule_limit' });
  });
});
