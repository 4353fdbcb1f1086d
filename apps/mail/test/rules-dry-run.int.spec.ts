import { uuidv7, type Principal } from '@dak/kernel';
import type { RuleDryRunRecord } from '@dak/contracts/api';
import { eventually } from '@dak/testing/waiting';
import { createDryRunWorker, type DryRunWorker } from '../src/rules/dry-runs/dry-run-worker';
import { contextOf, insertMailbox, principal } from './mail-fixtures';
import { openRules, recordOf, ruleDefinition, type RuleFields, type Rules } from './rule-fixtures';

let rules: Rules;
const workers: DryRunWorker[] = [];
const errors: unknown[] = [];
beforeAll(async () => {
  rules = await openRules();
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()));
});
afterAll(() => rules.close());

function startWorker(): DryRunWorker {
  const { database, blobs } = rules;
  const worker = createDryRunWorker({
    database,
    blobs,
    owner: async () => uuidv7(),
    onError: (error) => errors.push(error),
  });
  workers.push(worker);
  worker.start();
  return worker;
}

async function begin(caller: Principal, fields: RuleFields, times: { from?: string; to?: string }) {
  return recordOf<RuleDryRunRecord>(
    await rules.handlers.startRuleDryRun(
      {
        subject: { $case: 'rule', value: ruleDefinition(fields) },
        from: times.from,
        to: times.to,
      },
      contextOf(caller),
    ),
  );
}

async function untilDone(caller: Principal, id: string): Promise<RuleDryRunRecord> {
  let record: RuleDryRunRecord | undefined;
  const clues = () => `the end of ${JSON.stringify(record)} ${String(errors[0])}`;
  return eventually(clues, async () => {
    record = recordOf<RuleDryRunRecord>(
      await rules.handlers.getRuleDryRun({ id }, contextOf(caller)),
    );
    return record.status !== 'running' && record;
  });
}

const YEAR = { from: '2026-01-01T00:00:00Z', to: '2026-12-31T00:00:00Z' };

describe('a dry run', () => {
  it('says what a rule would have touched, in the window, and does nothing', async () => {
    const admin = principal();
    const mailbox = await insertMailbox(rules.database, admin.organizationId);
    const at = (month: string) => `2026-${month}-01T10:00:00.000Z`;
    const first = await rules.store(admin, mailbox.id, {
      subject: 'invoice',
      receivedAt: at('03'),
    });
    await rules.store(admin, mailbox.id, {
      subject: 'invoice again',
      receivedAt: at('04'),
      conversation: { kind: 'existing', id: first.conversationId },
    });
    await rules.store(admin, mailbox.id, { subject: 'invoice', receivedAt: at('11') });
    await rules.store(admin, mailbox.id, { subject: 'other', receivedAt: at('05') });
    const before = await rules.conversation(admin, first.conversationId);
    const { id, status } = await begin(
      admin,
      {
        match: 'any',
        conditions: [
          { field: 'subject', operator: 'contains', value: 'invoice' },
          { field: 'subject', operator: 'contains', value: 'again' },
        ],
      },
      { from: at('01'), to: at('10') },
    );
    expect(status).toBe('running');
    startWorker();
    const done = await untilDone(admin, id);
    expect(done).toMatchObject({
      status: 'done',
      examined: 3,
      matched: 2,
      conversations: 1,
      progress: { examined: 3, total: 3 },
      condition_hits: [
        { index: 0, matched: 2 },
        { index: 1, matched: 1 },
      ],
    });
    expect(done.samples.map(({ subject }) => subject)).toEqual(['invoice', 'invoice again']);
    expect(await rules.conversation(admin, first.conversationId)).toEqual(before);
    expect(await rules.runs(admin, first.conversationId)).toEqual([]);
  });

  it('goes on in another process where the first one stopped, without counting twice', async () => {
    const admin = principal();
    const mailbox = await insertMailbox(rules.database, admin.organizationId);
    await rules.query(
      admin.organizationId,
      `with c as (insert into conversation (organization_id, id, mailbox_id, number, last_message_at, created_at, updated_at)
                  select $1, gen_random_uuid(), $2, n, now(), now(), now() from generate_series(1, 1100) n returning id)
       insert into message (organization_id, id, conversation_id, mailbox_id, direction, status, author_type, sort_at,
                            received_at, created_at, updated_at)
       select $1, gen_random_uuid(), id, $2, 'inbound', 'received', 'external', '2026-06-01', '2026-06-01', now(), now()
         from c`,
      [admin.organizationId, mailbox.id],
    );
    const { id } = await begin(admin, {}, YEAR);
    const first = startWorker();
    for (;;) {
      const [row] = await rules.query<{ examined: number }>(
        admin.organizationId,
        'select examined from rule_dry_run where id = $1',
        [id],
      );
      if (row!.examined > 0) break;
    }
    await first.stop();
    const [half] = await rules.query<{ examined: number }>(
      admin.organizationId,
      `update rule_dry_run set lease_until = now() - interval '1 second' where id = $1 returning examined`,
      [id],
    );
    expect(half!.examined).toBeGreaterThan(0);
    startWorker();
    expect(await untilDone(admin, id)).toMatchObject({
      examined: 1100,
      matched: 1100,
      conversations: 1100,
    });
  });

  it('sees what its asker sees, and is theirs', async () => {
    const admin = principal();
    const user = principal({ organizationId: admin.organizationId, role: 'user' });
    const [mine, hidden] = [
      await insertMailbox(rules.database, admin.organizationId),
      await insertMailbox(rules.database, admin.organizationId),
    ];
    await rules.query(
      admin.organizationId,
      'insert into mailbox_user (organization_id, mailbox_id, user_id) values ($1, $2, $3)',
      [admin.organizationId, mine.id, user.userId],
    );
    const sortAt = '2026-05-05T05:05:05.000Z';
    await rules.store(admin, mine.id, { sortAt });
    await rules.store(admin, hidden.id, { sortAt });
    startWorker();
    const own = await begin(user, { mailbox_ids: [mine.id] }, YEAR);
    expect(await untilDone(user, own.id)).toMatchObject({ examined: 1 });
    const all = await begin(admin, {}, YEAR);
    expect(await untilDone(admin, all.id)).toMatchObject({ examined: 2 });
    await expect(
      rules.handlers.getRuleDryRun({ id: all.id }, contextOf(user)),
    ).rejects.toMatchObject({ kind: 'not_found' });
  });

  it('shows no sample of mail that its asker may not read any more', async () => {
    const admin = principal();
    const user = principal({ organizationId: admin.organizationId, role: 'user' });
    const mailbox = await insertMailbox(rules.database, admin.organizationId);
    await rules.query(
      admin.organizationId,
      'insert into mailbox_user (organization_id, mailbox_id, user_id) values ($1, $2, $3)',
      [admin.organizationId, mailbox.id, user.userId],
    );
    await rules.store(admin, mailbox.id, {
      subject: 'salaries',
      sortAt: '2026-05-05T05:05:05.000Z',
    });
    startWorker();
    const { id } = await begin(user, { mailbox_ids: [mailbox.id] }, YEAR);
    expect((await untilDone(user, id)).samples).toHaveLength(1);
    await rules.query(admin.organizationId, 'delete from mailbox_user where user_id = $1', [
      user.userId,
    ]);
    expect(await untilDone(user, id)).toMatchObject({ matched: 1, samples: [] });
    expect((await untilDone(admin, id)).samples).toHaveLength(1);
  });
});
