import { uuidv7, type Principal } from '@dak/kernel';
import { matchInPlace } from '../src/rules/evaluation/pattern-matcher';
import { runRules } from '../src/rules/runs/run-rules';
import { contextOf, insertMailbox, principal } from './mail-fixtures';
import { openRules, recordOf, ruleDefinition, type Rules, type StoredRule } from './rule-fixtures';

let rules: Rules;
beforeAll(async () => {
  rules = await openRules();
});
afterAll(() => rules.close());

let admin: Principal;
let mailbox: { id: string; address: string };
beforeEach(async () => {
  admin = principal();
  mailbox = await insertMailbox(rules.database, admin.organizationId);
});

const subjectHas = (value: string) => ({ field: 'subject', operator: 'contains', value });

describe('rules on mail that arrives', () => {
  it('are marked when their expressions take too long, and those after them run', async () => {
    for (let index = 0; index < 30; index += 1) {
      await rules.create(admin, {
        name: `Costly ${index}`,
        priority: 1,
        conditions: [{ field: 'body', operator: 'matches', value: `(?:a?){${400 + index}}b{2}` }],
        actions: [{ type: 'add_labels', labels: ['costly'] }],
      });
    }
    await rules.create(admin, {
      name: 'Cheap',
      priority: 9,
      conditions: [{ field: 'body', operator: 'matches', value: '^a{3}' }],
      actions: [{ type: 'add_labels', labels: ['cheap'] }],
    });
    const { conversationId } = await rules.receive(admin, mailbox.id, {
      bodyText: 'a'.repeat(60_000),
    });
    expect(await rules.conversation(admin, conversationId)).toMatchObject({ labels: ['cheap'] });
    const runs = await rules.runs(admin, conversationId);
    const undecided = runs.filter(({ actions }) =>
      actions.some(({ outcome }) => outcome === 'failed'),
    );
    expect(undecided.length).toBeGreaterThan(10);
    for (const { matched, actions } of undecided) {
      expect(matched).toBe(false);
      expect(actions).toEqual([
        { type: 'add_labels', outcome: 'failed', error: expect.stringContaining('take too long') },
      ]);
    }
  });

  it('hold no connection while their expressions are worked out, and act on what they are by then', async () => {
    const rule = await rules.create(admin, {
      conditions: [{ field: 'body', operator: 'matches', value: '^a{3}$' }],
      actions: [{ type: 'add_labels', labels: ['first'] }],
    });
    const arrival = await rules.store(admin, mailbox.id, { bodyText: 'a'.repeat(60_000) });
    const idle: boolean[] = [];
    const patterns: typeof matchInPlace = {
      ...matchInPlace,
      match: async (organizationId, tests) => {
        const { pool } = rules.database;
        idle.push(pool.idleCount === pool.totalCount && pool.waitingCount === 0);
        if (idle.length === 1) {
          await rules.handlers.updateRule(
            {
              id: rule.id,
              fields: ['conditions'],
              rule: ruleDefinition({
                conditions: [{ field: 'body', operator: 'matches', value: '^a{4}' }],
              }),
            },
            contextOf(admin),
          );
        }
        return matchInPlace.match(organizationId, tests);
      },
    };
    await runRules({ ...rules.deps, patterns }, admin.organizationId, [arrival]);
    expect(idle).toEqual([true, true]);
    expect(await rules.conversation(admin, arrival.conversationId)).toMatchObject({
      labels: ['first'],
    });
  });

  it('change the conversation with every action, and tell who did it', async () => {
    const userId = uuidv7();
    const departmentId = uuidv7();
    const rule = await rules.create(admin, {
      name: 'Triage',
      conditions: [subjectHas('invoice')],
      actions: [
        { type: 'add_labels', labels: ['billing', 'money'] },
        { type: 'remove_labels', labels: ['money'] },
        { type: 'assign', user_id: userId, user_name: 'Ravi' },
        { type: 'set_department', department_id: departmentId },
        { type: 'set_priority', priority: 'high' },
        { type: 'set_disposition', disposition: 'quarantined' },
        { type: 'set_status', status: 'pending' },
        { type: 'snooze', minutes: 60 },
      ],
    });
    const { conversationId, eventId } = await rules.receive(admin, mailbox.id, {
      subject: 'Your INVOICE of May',
    });
    expect(await rules.conversation(admin, conversationId)).toMatchObject({
      labels: ['billing'],
      assignee_id: userId,
      assignee_name: 'Ravi',
      department_id: departmentId,
      priority: 'high',
      disposition: 'quarantined',
      status: 'snoozed',
    });
    const [run] = await rules.runs(admin, conversationId);
    expect(run).toMatchObject({ rule_id: rule.id, rule_version: 1, matched: true });
    expect(run!.actions.map(({ outcome }) => outcome)).toEqual(Array(8).fill('done'));
    expect(run!.conditions).toEqual([
      expect.objectContaining({
        expected: 'invoice',
        actual: 'Your INVOICE of May',
        matched: true,
      }),
    ]);
    const [event] = await rules.matchedEvents(admin);
    expect(event!.envelope).toMatchObject({ causationId: eventId, causationDepth: 1 });
    expect(event!.envelope.actor).toMatchObject({ type: 'rule', id: rule.id, name: 'Triage' });
    const activity = await rules.query<{ actor_type: string; actor_id: string }>(
      admin.organizationId,
      'select distinct actor_type, actor_id from activity where conversation_id = $1',
      [conversationId],
    );
    expect(activity).toEqual([{ actor_type: 'rule', actor_id: rule.id }]);
  });

  it('is none of theirs when it is older than they are, however late they come to it', async () => {
    await rules.create(admin, {});
    const late = await rules.store(admin, mailbox.id);
    await rules.run(admin, [{ ...late, occurredAt: late.occurredAt - 60_000 }]);
    expect(await rules.runs(admin, late.conversationId)).toEqual([]);
    const next = await rules.receive(admin, mailbox.id);
    expect(await rules.runs(admin, next.conversationId)).toHaveLength(1);
  });

  it('record also why they did nothing', async () => {
    await rules.create(admin, { conditions: [subjectHas('invoice'), subjectHas('order')] });
    const { conversationId } = await rules.receive(admin, mailbox.id, { subject: 'An order' });
    const [run] = await rules.runs(admin, conversationId);
    expect(run).toMatchObject({ matched: false, actions: [] });
    expect(run!.conditions.map(({ matched }) => matched)).toEqual([false, true]);
    expect(await rules.matchedEvents(admin)).toEqual([]);
  });

  it('run in the order of priority, see the labels of earlier ones, and stop where one says so', async () => {
    await rules.create(admin, {
      name: 'third',
      priority: 30,
      actions: [{ type: 'add_labels', labels: ['late'] }],
    });
    await rules.create(admin, {
      name: 'second',
      priority: 20,
      conditions: [{ field: 'label', operator: 'equals', value: 'vip' }],
      actions: [{ type: 'set_priority', priority: 'urgent' }],
      stop: true,
    });
    await rules.create(admin, {
      name: 'first',
      priority: -1,
      actions: [{ type: 'add_labels', labels: ['vip'] }],
    });
    const { conversationId } = await rules.receive(admin, mailbox.id);
    const runs = await rules.runs(admin, conversationId);
    expect(runs.map(({ rule_name }) => rule_name).reverse()).toEqual(['first', 'second']);
    expect(await rules.conversation(admin, conversationId)).toMatchObject({
      labels: ['vip'],
      priority: 'urgent',
    });
    const events = await rules.matchedEvents(admin);
    expect(events.map(({ data }) => data.ruleName)).toEqual(['first', 'second']);
    const sequences = events.map(({ envelope }) => envelope.sequence);
    expect(sequences[1]).toBeGreaterThan(sequences[0]!);
  });

  it('go on after an action that the status machine refuses, and say why', async () => {
    await rules.create(admin, {
      actions: [
        { type: 'set_status', status: 'resolved' },
        { type: 'snooze', minutes: 5 },
        { type: 'add_labels', labels: ['done'] },
      ],
    });
    const { conversationId } = await rules.receive(admin, mailbox.id);
    const [run] = await rules.runs(admin, conversationId);
    expect(run!.actions).toEqual([
      { type: 'set_status', outcome: 'done', error: null },
      {
        type: 'snooze',
        outcome: 'failed',
        error: 'A resolved conversation cannot be snoozed: reopen it first.',
      },
      { type: 'add_labels', outcome: 'done', error: null },
    ]);
  });

  it('happen once, however often the event is delivered', async () => {
    const rule = await rules.create(admin, {
      actions: [
        { type: 'forward', to: 'archive@partner.example' },
        { type: 'add_labels', labels: ['once'] },
      ],
    });
    const arrival = await rules.receive(admin, mailbox.id);
    await rules.run(admin, [arrival]);
    await Promise.all([rules.run(admin, [arrival]), rules.run(admin, [arrival, arrival])]);
    expect(await rules.runs(admin, arrival.conversationId)).toHaveLength(1);
    expect(await rules.sentMail(admin)).toHaveLength(1);
    expect(await rules.matchedEvents(admin)).toHaveLength(1);
    const read = recordOf<StoredRule>(
      await rules.handlers.getRule({ id: rule.id }, contextOf(admin)),
    );
    expect(read.stats).toMatchObject({ evaluated: 1, matched: 1 });
  });

  it('leave nothing behind when the process dies before the commit, and everything after', async () => {
    await rules.create(admin, {
      actions: [
        { type: 'forward', to: ['archive@partner.example'] },
        { type: 'add_labels', labels: ['kept'] },
      ],
    });
    const arrival = await rules.store(admin, mailbox.id);
    await expect(rules.runAndDie(admin, [arrival])).rejects.toThrow('killed');
    expect(await rules.sentMail(admin)).toEqual([]);
    expect(await rules.runs(admin, arrival.conversationId)).toEqual([]);
    await rules.run(admin, [arrival]);
    await rules.run(admin, [arrival]);
    expect(await rules.sentMail(admin)).toHaveLength(1);
    expect(await rules.runs(admin, arrival.conversationId)).toHaveLength(1);
    expect((await rules.conversation(admin, arrival.conversationId)).labels).toEqual(['kept']);
  });

  it('of many mails in one transaction: each conversation gets its own', async () => {
    await rules.create(admin, { conditions: [subjectHas('red')], name: 'red', priority: 1 });
    await rules.create(admin, {
      conditions: [subjectHas('e')],
      name: 'e',
      priority: 2,
      actions: [{ type: 'set_priority', priority: 'low' }],
    });
    const arrivals = [];
    for (const subject of ['red', 'green', 'pink', 'dark red']) {
      arrivals.push(await rules.store(admin, mailbox.id, { subject }));
    }
    const again = await rules.store(admin, mailbox.id, {
      subject: 'Re: pink, no, red',
      conversation: { kind: 'existing', id: arrivals[2]!.conversationId },
    });
    await rules.run(admin, [...arrivals, again]);
    const states = await Promise.all(
      arrivals.map(({ conversationId }) => rules.conversation(admin, conversationId)),
    );
    expect(states.map(({ labels }) => labels)).toEqual([['seen'], [], ['seen'], ['seen']]);
    expect(states.map(({ priority }) => priority)).toEqual(['low', 'low', 'low', 'low']);
  });

  it('are not run on imported mail, nor on mail of other mailboxes, nor when disabled', async () => {
    const other = await insertMailbox(rules.database, admin.organizationId);
    await rules.create(admin, { mailbox_ids: [other.id] });
    await rules.create(admin, { enabled: false });
    const mine = await rules.receive(admin, mailbox.id);
    const imported = await rules.receive(admin, other.id, { imported: true });
    expect(await rules.runs(admin, mine.conversationId)).toEqual([]);
    expect(await rules.runs(admin, imported.conversationId)).toEqual([]);
    const live = await rules.receive(admin, other.id);
    expect(await rules.runs(admin, live.conversationId)).toHaveLength(1);
  });

  it('use a change at once, also when another replica made it', async () => {
    const rule = await rules.create(admin, {});
    await rules.receive(admin, mailbox.id);
    await rules.handlers.updateRule(
      {
        id: rule.id,
        fields: ['actions'],
        rule: ruleDefinition({ actions: [{ type: 'add_labels', labels: ['newer'] }] }),
      },
      contextOf(admin),
    );
    const { conversationId } = await rules.receive(admin, mailbox.id);
    expect((await rules.conversation(admin, conversationId)).labels).toEqual(['newer']);
    expect(await rules.runs(admin, conversationId)).toMatchObject([{ rule_version: 2 }]);
  });

  it('notify webhooks through the event', async () => {
    const webhookId = uuidv7();
    await rules.create(admin, { actions: [{ type: 'notify_webhook', webhook_id: webhookId }] });
    await rules.receive(admin, mailbox.id);
    const [event] = await rules.matchedEvents(admin);
    expect(event!.data.notifyWebhookIds).toEqual([webhookId]);
  });

  it('do nothing for an event at the end of too long a chain', async () => {
    await rules.create(admin, {});
    const arrival = { ...(await rules.store(admin, mailbox.id)), causationDepth: 9 };
    await rules.run(admin, [arrival]);
    const [run] = await rules.runs(admin, arrival.conversationId);
    expect(run!.actions).toMatchObject([{ outcome: 'skipped' }]);
    expect((await rules.conversation(admin, arrival.conversationId)).labels).toEqual([]);
  });

  it('know the first contact of a sender in a mailbox', async () => {
    await rules.create(admin, {
      conditions: [{ field: 'first_contact', operator: 'equals', value: true }],
    });
    const from = { email: 'New@Customer.example', name: '' };
    const first = await rules.receive(admin, mailbox.id, { from });
    const second = await rules.receive(admin, mailbox.id, {
      from: { ...from, email: 'new@customer.example' },
    });
    expect(await rules.runs(admin, first.conversationId)).toMatchObject([{ matched: true }]);
    expect(await rules.runs(admin, second.conversationId)).toMatchObject([{ matched: false }]);
  });
});
