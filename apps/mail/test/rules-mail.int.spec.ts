import { uuidv7, type Principal } from '@dak/kernel';
import { TemplateContent } from '@dak/contracts/mail';
import { createModels } from '../src/db/models';
import { createTemplateHandlers } from '../src/sending/templates/handlers';
import { contextOf, insertMailbox, principal } from './mail-fixtures';
import { openRules, type Rules } from './rule-fixtures';

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

const forward = { type: 'forward', to: ['Archive <archive@partner.example>'] };

async function template(fields: Partial<TemplateContent> & { variables?: object[] } = {}) {
  const handlers = createTemplateHandlers({
    database: rules.database,
    models: createModels(rules.database),
    clock: Date.now,
    cursorKey: new Uint8Array(32),
  });
  const { variables = [], ...content } = fields;
  const { id } = await handlers.createTemplate(
    {
      content: TemplateContent.fromPartial({
        name: 'Received',
        subject: 'Received',
        bodyText: 'We have got your mail.',
        variablesJson: Buffer.from(JSON.stringify(variables)),
        ...content,
      }),
    },
    contextOf(admin),
  );
  return id;
}

async function onlyAction(conversationId: string) {
  const [run] = await rules.runs(admin, conversationId);
  return run!.actions[0]!;
}

describe('a rule that forwards', () => {
  it("sends nothing once the domain of the mailbox is no longer the organization's", async () => {
    await rules.create(admin, { kind: 'forwarding', actions: [forward] });
    await rules.query(admin.organizationId, 'delete from domain', []);
    const { conversationId } = await rules.receive(admin, mailbox.id, {});
    expect(await onlyAction(conversationId)).toMatchObject({ type: 'forward', outcome: 'failed' });
    expect(await rules.sentMail(admin)).toEqual([]);
  });

  it('sends the mail on as the API does, marked as automatic, on behalf of the rule', async () => {
    const rule = await rules.create(admin, { kind: 'forwarding', actions: [forward] });
    await rules.receive(admin, mailbox.id, { subject: 'Contract', bodyText: 'See below.' });
    const [sent] = await rules.sentMail(admin);
    expect(sent).toMatchObject({
      kind: 'forward',
      subject: 'Fwd: Contract',
      recipients: ['archive@partner.example'],
      author_type: 'rule',
      author_id: rule.id,
    });
    expect(sent!.raw).toMatch(/^Auto-Submitted: auto-generated\r$/m);
    expect(sent!.raw).toMatch(/^X-Dak-Hops: 1\r$/m);
    expect(sent!.raw).toContain(`X-Loop: ${mailbox.address}`);
    expect(sent!.raw).toContain('See below.');
  });

  it('keeps line ends that the sender has hidden out of the header', async () => {
    await rules.create(admin, { actions: [forward] });
    await rules.receive(admin, mailbox.id, {
      subject: 'Hello\r\nBcc: victim@elsewhere.example',
      from: { email: 'x@customer.example', name: 'X\r\nBcc: victim@elsewhere.example' },
    });
    const [sent] = await rules.sentMail(admin);
    const header = sent!.raw.slice(0, sent!.raw.indexOf('\r\n\r\n'));
    expect(header).not.toMatch(/^Bcc:/m);
    expect(sent!.recipients).toEqual(['archive@partner.example']);
  });

  it.each([
    [
      'an automatic reply',
      { kind: 'auto_reply', flags: { auto_generated: true } },
      /automatic mail/,
    ],
    ['list mail', { kind: 'list', flags: { list_mail: true } }, /list mail/],
    ['a delivery report', { kind: 'dsn', flags: { auto_generated: true } }, /delivery report/],
    ['a complaint', { kind: 'arf', flags: { auto_generated: true } }, /complaint/],
  ] as const)('does not forward %s unless it asks for the kind', async (_, mail, reason) => {
    await rules.create(admin, { name: 'plain', actions: [forward] });
    const plain = await rules.receive(admin, mailbox.id, mail);
    expect(await onlyAction(plain.conversationId)).toMatchObject({
      outcome: 'skipped',
      error: expect.stringMatching(reason),
    });
    await rules.create(admin, {
      name: 'asking',
      priority: -1,
      stop: true,
      conditions: [{ field: 'kind', operator: 'equals', value: mail.kind }],
      actions: [forward],
    });
    const asked = await rules.receive(admin, mailbox.id, mail);
    expect(await onlyAction(asked.conversationId)).toMatchObject({ outcome: 'done' });
  });

  it('stops a mail that goes round', async () => {
    await rules.create(admin, { actions: [forward] });
    const far = await rules.receive(admin, mailbox.id, {
      raw: 'X-Dak-Hops: 8\r\nSubject: x\r\n\r\nx\r\n',
    });
    expect(await onlyAction(far.conversationId)).toMatchObject({
      outcome: 'skipped',
      error: expect.stringContaining('8 times'),
    });
    const back = await rules.receive(admin, mailbox.id, {
      raw: `X-Loop: ${mailbox.address.toUpperCase()}\r\nSubject: x\r\n\r\nx\r\n`,
    });
    expect(await onlyAction(back.conversationId)).toMatchObject({ outcome: 'skipped' });
    const own = await rules.receive(admin, mailbox.id, {
      from: { email: mailbox.address, name: '' },
    });
    expect(await onlyAction(own.conversationId)).toMatchObject({ outcome: 'skipped' });
    const once = await rules.receive(admin, mailbox.id, {
      raw: 'X-Dak-Hops: 7\r\nSubject: x\r\n\r\nx\r\n',
    });
    expect(await onlyAction(once.conversationId)).toMatchObject({ outcome: 'done' });
    expect((await rules.sentMail(admin)).at(-1)!.raw).toMatch(/^X-Dak-Hops: 8\r$/m);
  });

  it('remembers all mailboxes that a mail has passed, and takes nothing else from its header', async () => {
    await rules.create(admin, { actions: [forward] });
    const victim = '=?utf-8?q?x=40y.example=0D=0ABcc:_victim=40elsewhere.example?=';
    await rules.receive(admin, mailbox.id, {
      raw: `X-Loop: first@partner.example\r\nX-Loop: ${victim}\r\nSubject: x\r\n\r\nx\r\n`,
    });
    const [sent] = await rules.sentMail(admin);
    const loops = [...sent!.raw.matchAll(/^X-Loop: (.*)\r$/gm)].map((match) => match[1]);
    expect(loops).toEqual([mailbox.address, 'first@partner.example']);
    expect(sent!.raw).not.toContain('victim');
  });

  it('sends a mail to an address once, whatever the number of rules', async () => {
    await rules.create(admin, { name: 'a', priority: 1, actions: [forward] });
    await rules.create(admin, {
      name: 'b',
      priority: 2,
      actions: [{ ...forward, to: ['Archive <archive@partner.example>', 'b@partner.example'] }],
    });
    await rules.create(admin, { name: 'c', priority: 3, actions: [forward] });
    const { conversationId } = await rules.receive(admin, mailbox.id);
    const sent = await rules.sentMail(admin);
    expect(sent.map(({ recipients }) => recipients)).toEqual([
      ['archive@partner.example'],
      ['b@partner.example'],
    ]);
    expect(await onlyAction(conversationId)).toMatchObject({ outcome: 'skipped' });
  });

  it('stops at ten automatic mails of a conversation within an hour', async () => {
    await rules.create(admin, { actions: [forward] });
    const first = await rules.receive(admin, mailbox.id);
    const arrivals = [];
    for (let count = 0; count < 11; count += 1) {
      arrivals.push(
        await rules.store(admin, mailbox.id, {
          conversation: { kind: 'existing', id: first.conversationId },
        }),
      );
    }
    await rules.run(admin, arrivals);
    expect(await rules.sentMail(admin)).toHaveLength(10);
    const runs = await rules.runs(admin, first.conversationId);
    const outcomes = runs.map(({ actions }) => actions[0]!.outcome);
    expect(outcomes.filter((outcome) => outcome === 'skipped')).toHaveLength(2);
  });

  it('fails with the sentence of the API, and the rest of the rule goes on', async () => {
    await rules.create(admin, {
      actions: [forward, { type: 'add_labels', labels: ['kept'] }],
    });
    const setDeleted = (at: string) =>
      rules.query(admin.organizationId, `update mailbox set deleted_at = ${at} where id = $1`, [
        mailbox.id,
      ]);
    await setDeleted('now()');
    const { conversationId } = await rules.receive(admin, mailbox.id);
    await setDeleted('null');
    const [run] = await rules.runs(admin, conversationId);
    expect(run!.actions).toEqual([
      expect.objectContaining({ outcome: 'failed', error: expect.stringContaining('No mailbox') }),
      expect.objectContaining({ outcome: 'done' }),
    ]);
  });
});

describe('a rule that answers', () => {
  it('fills the template with the mail, to the sender, within the conversation', async () => {
    const template_id = await template({
      bodyText: 'Dear {{sender_name}}, about {{subject}}: {{note}}',
      bodyHtml: '<p>Dear {{sender_name}}, about {{subject}}: {{note}}</p>',
      variables: ['sender_name', 'subject', 'note'].map((name) => ({ name, type: 'string' })),
    });
    await rules.create(admin, {
      actions: [{ type: 'reply_with_template', template_id, variables: { note: 'soon' } }],
    });
    const messageIdHeader = `${uuidv7()}@customer.example`;
    const { conversationId } = await rules.receive(admin, mailbox.id, {
      subject: '<b>Lamp</b>\r\nBcc: victim@elsewhere.example',
      messageIdHeader,
    });
    expect(await onlyAction(conversationId)).toMatchObject({ outcome: 'done' });
    const [sent] = await rules.sentMail(admin);
    expect(sent!.recipients).toEqual(['meera@customer.example']);
    expect(sent!.raw).toMatch(/^Auto-Submitted: auto-replied\r$/m);
    expect(sent!.raw).toContain(`In-Reply-To: <${messageIdHeader}>`);
    expect(sent!.raw).not.toMatch(/^Bcc: victim/m);
    expect(sent!.raw).toContain('Dear Meera, about <b>Lamp</b>');
    expect(sent!.raw).toContain('&lt;b&gt;Lamp&lt;/b&gt;');
    // What a person has to do is not done by it.
    expect((await rules.conversation(admin, conversationId)).status).toBe('open');
  });

  it('answers a sender once in a conversation, and four times a day at most', async () => {
    const template_id = await template();
    await rules.create(admin, { actions: [{ type: 'reply_with_template', template_id }] });
    const first = await rules.receive(admin, mailbox.id);
    const second = await rules.receive(admin, mailbox.id, {
      conversation: { kind: 'existing', id: first.conversationId },
    });
    expect(await onlyAction(second.conversationId)).toMatchObject({
      outcome: 'skipped',
      error: expect.stringContaining('within 4 days'),
    });
    const others = [];
    for (let count = 0; count < 5; count += 1) others.push(await rules.store(admin, mailbox.id));
    await rules.run(admin, others);
    expect(await rules.sentMail(admin)).toHaveLength(4);
    expect(await onlyAction(others[4]!.conversationId)).toMatchObject({ outcome: 'skipped' });
  });

  it('never answers reports, nor where nobody takes an answer, whatever it asks for', async () => {
    const template_id = await template();
    await rules.create(admin, {
      conditions: [{ field: 'kind', operator: 'in', value: ['human', 'dsn', 'mdn', 'arf'] }],
      actions: [{ type: 'reply_with_template', template_id }],
    });
    const mails = [
      { kind: 'dsn' },
      { kind: 'mdn' },
      { kind: 'arf' },
      { flags: { empty_reverse_path: true } },
      { flags: { no_auto_reply: true } },
    ] as const;
    for (const mail of mails) {
      const { conversationId } = await rules.receive(admin, mailbox.id, mail);
      expect(await onlyAction(conversationId)).toMatchObject({ outcome: 'skipped' });
    }
    expect(await rules.sentMail(admin)).toEqual([]);
  });

  it('says so when the template is gone', async () => {
    const template_id = await template();
    await rules.create(admin, { actions: [{ type: 'reply_with_template', template_id }] });
    await rules.query(admin.organizationId, 'update template set deleted_at = now()');
    const { conversationId } = await rules.receive(admin, mailbox.id);
    expect(await onlyAction(conversationId)).toMatchObject({
      outcome: 'failed',
      error: expect.stringContaining('template'),
    });
  });
});
