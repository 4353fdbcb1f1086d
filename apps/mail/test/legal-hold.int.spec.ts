import { SCOPES, uuidv7, type Principal } from '@dak/kernel';
import type { ConversationRow } from '../src/conversations/conversation-row';
import { decideAction } from '../src/rules/runs/decide-action';
import { insertMailbox, newConversationIn, principal } from './mail-fixtures';
import { as, openMailHandlers, recordOf, type MailHandlers } from './mail-handlers';

const HOLD = 'legal-hold';

describe('the label legal-hold', () => {
  let mail: MailHandlers;
  const organizationId = uuidv7();
  const admin = principal({ organizationId });
  const writer = principal({ organizationId, role: 'user' });
  const key = principal({
    organizationId,
    type: 'api_key',
    scopes: SCOPES.filter((scope) => scope !== 'admin.manage'),
  });
  const refused: [who: string, caller: Principal, code: string][] = [
    ['a user who may write', writer, 'missing_role'],
    ['a key without admin.manage', key, 'missing_scope'],
  ];
  let mailboxId = '';

  beforeAll(async () => {
    mail = await openMailHandlers();
    mailboxId = (await insertMailbox(mail.database, organizationId)).id;
    const users = [{ userId: writer.userId, access: 'write' }];
    await mail.mailboxes.putAssignments({ mailboxId, users, departmentIds: [] }, as(admin));
  });
  afterAll(() => mail.close());

  const change = (id: string, caller: Principal, add: string[], remove: string[]) =>
    recordOf<{ labels: string[] }>(
      mail.conversations.changeLabels({ id, add, remove }, as(caller)),
    );
  const received = async (...labels: string[]): Promise<string> => {
    const { conversationId } = await mail.receive(organizationId, mailboxId);
    if (labels.length > 0) await change(conversationId, admin, labels, []);
    return conversationId;
  };
  const labelsOf = async (id: string) =>
    (await recordOf<{ labels: string[] }>(mail.conversations.getConversation({ id }, as(admin))))
      .labels;

  it.each(refused)('may be set by %s, and not taken away', async (_, caller, code) => {
    const id = await received();
    expect(await change(id, caller, [HOLD, 'vip'], [])).toEqual({ labels: [HOLD, 'vip'] });
    await expect(change(id, caller, [], [HOLD])).rejects.toMatchObject({ code });
    await expect(change(id, caller, [HOLD], [HOLD])).rejects.toMatchObject({ code });
    expect(await change(id, caller, [], ['vip'])).toEqual({ labels: [HOLD] });
    const { results } = await recordOf<{ results: { status: number }[] }>(
      mail.conversations.changeConversations(
        { ids: [id], action: { $case: 'labels', value: { id: '', add: [], remove: [HOLD] } } },
        as(caller),
      ),
    );
    expect(results.map(({ status }) => status)).toEqual([403]);
    expect(await labelsOf(id)).toEqual([HOLD]);
  });

  it('is taken away by an admin, also in bulk', async () => {
    const [one, other] = [await received(HOLD), await received(HOLD)];
    expect(await change(one, admin, [], [HOLD])).toEqual({ labels: [] });
    await mail.conversations.changeConversations(
      { ids: [other], action: { $case: 'labels', value: { id: '', add: [], remove: [HOLD] } } },
      as(admin),
    );
    expect(await labelsOf(other)).toEqual([]);
  });

  it('stays in the catalogue for a key without admin.manage', async () => {
    const id = await received(HOLD);
    const made = await recordOf<{ id: string }>(mail.labels.createLabel({ name: HOLD }, as(admin)));
    const rename = { id: made.id, name: 'old-hold', fields: ['name'] };
    for (const attempt of [
      () => mail.labels.deleteLabel({ id: made.id }, as(key)),
      () => mail.labels.updateLabel(rename, as(key)),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ code: 'missing_scope' });
    }
    expect(await labelsOf(id)).toEqual([HOLD]);
    await mail.labels.deleteLabel({ id: made.id }, as(admin));
    expect(await labelsOf(id)).toEqual([]);
  });

  it('is taken away by no rule', async () => {
    const row = {
      ...(await newConversationIn(mail.database, organizationId)),
      labels: [HOLD, 'vip'],
    } as unknown as ConversationRow;
    const remove = (labels: string[]) =>
      decideAction(row, { type: 'remove_labels', labels }, Date.now());
    expect(() => remove(['vip', HOLD])).toThrow(expect.objectContaining({ code: 'missing_role' }));
    expect(remove(['vip']).after.labels).toEqual([HOLD]);
  });

  it('is never the label that is too many for a merged conversation', async () => {
    const many = (letter: string, count: number) =>
      Array.from({ length: count }, (_, index) => `${letter}${index}`);
    const first = await received(...many('a', 64));
    const second = await received(...many('b', 63), HOLD);
    await mail.conversations.mergeConversations({ id: first, sourceIds: [second] }, as(writer));
    const labels = await labelsOf(first);
    expect(labels).toHaveLength(64);
    expect(labels).toContain(HOLD);
  });
});
