import { systemClock, uuidv7, type Principal } from '@dak/kernel';
import type {
  DraftRecord,
  OutboxEntryRecord,
  SubmissionPreview,
  TemplatePreviewRecord,
  TemplateRecord,
  TemplateVersionRecord,
} from '@dak/contracts/api';
import {
  CancelOutboxEntryRequest,
  CreateDraftRequest,
  ListDraftsRequest,
  ListTemplatesRequest,
  ListTemplateVersionsRequest,
  PreviewRequest,
  TemplateContent,
  UpdateDraftRequest,
  UpdateTemplateRequest,
  type Document,
} from '@dak/contracts/mail';
import { parseMessage } from '@dak/formats/rfc5322';
import { recordMessages } from '../src/conversations/messages/record-messages';
import { createReaders } from '../src/db/database-reader';
import { createDraftHandlers } from '../src/sending/drafts/handlers';
import { createModels } from '../src/db/models';
import { createTemplateHandlers } from '../src/sending/templates/handlers';
import { renderTemplateFor } from '../src/sending/templates/template-for';
import {
  contextOf,
  insertMailbox,
  newConversationIn,
  newMessage,
  principal,
} from './mail-fixtures';
import {
  composeRequest,
  openSending,
  receiptOf,
  replyRequest,
  type Sending,
} from './submission-fixtures';

let sending: Sending;
let templates: ReturnType<typeof createTemplateHandlers>;
let drafts: ReturnType<typeof createDraftHandlers>;
let mailbox: { id: string; address: string };
const caller = principal();
const key = principal({ organizationId: caller.organizationId, type: 'api_key' });
const stranger = principal();

beforeAll(async () => {
  sending = await openSending();
  const { database } = sending.mail;
  const deps = { database, clock: systemClock, cursorKey: Buffer.alloc(32, 1) };
  templates = createTemplateHandlers({ ...deps, models: createModels(database) });
  drafts = createDraftHandlers({
    ...deps,
    blobs: sending.blobs,
    acceptor: sending.acceptor,
    readers: createReaders(database),
  });
  mailbox = await insertMailbox(database, caller.organizationId);
});
afterAll(() => sending.close());

const recordOf = <T>({ json }: { json: Buffer }) => JSON.parse(json.toString('utf8')) as T;
const listOf = <T>({ dataJson }: { dataJson: Buffer }) =>
  JSON.parse(dataJson.toString('utf8')) as T[];
const json = (value: unknown) => Buffer.from(JSON.stringify(value));
const variables = [
  { name: 'name', type: 'string', required: true },
  { name: 'link', type: 'url', fallback: 'https://dak.example/' },
];

function content(fields: Partial<Parameters<typeof TemplateContent.fromPartial>[0]> = {}) {
  return TemplateContent.fromPartial({
    name: 'Welcome',
    subject: 'Welcome, {{name}}',
    bodyHtml: '<p>Hello {{name}}, <a href="{{link}}">start here</a>.</p>',
    variablesJson: json(variables),
    ...fields,
  });
}

it('is small enough as a whole that a page of 100 fits into one answer', async () => {
  const rows = '<p>x</p>'.repeat(10_000);
  const sheet = `<style>p { color: #123456; font-family: Helvetica, Arial, sans-serif }</style>`;
  await expect(make({ bodyHtml: rows })).resolves.toMatchObject({ version: 1 });
  await expect(make({ bodyHtml: sheet + rows })).rejects.toMatchObject({
    code: 'template_too_large',
    message: expect.stringContaining('style sheet'),
  });
});

async function make(fields = {}, who = caller): Promise<TemplateRecord> {
  const made = await templates.createTemplate({ content: content(fields) }, contextOf(who));
  return recordOf<TemplateRecord>(made);
}

function change(id: string, fields: Record<string, unknown>, expectedVersion?: number) {
  const request = UpdateTemplateRequest.fromPartial({
    id,
    expectedVersion,
    fields: Object.keys(fields).map((name) =>
      name.replace('Json', '').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    ),
    content: TemplateContent.fromPartial(fields),
  });
  return templates.updateTemplate(request, contextOf(caller));
}

const fill = (templateId: string, values?: object) => ({
  bodyText: undefined,
  templateId,
  ...(values === undefined ? {} : { templateVariablesJson: json(values) }),
});

async function rawOf(receipt: Document) {
  const { id } = receiptOf(receipt);
  const [rows] = await sending.mail.database.batchInTenant(caller.organizationId, [
    {
      name: 'test_raw',
      text: `select raw_sha256 from submission where organization_id = $1 and id = $2`,
      values: [caller.organizationId, id],
    },
  ]);
  const sha256 = (rows as unknown as { raw_sha256: string }[])[0]!.raw_sha256;
  return parseMessage(await sending.blobs.get(caller.organizationId, sha256));
}

describe('a template', () => {
  it('keeps every version that it had, and who made it', async () => {
    const made = await make();
    expect(made).toMatchObject({ version: 1, alias: null, body_text: null });
    const changed = recordOf<TemplateRecord>(await change(made.id, { subject: 'Hi {{name}}' }, 1));
    expect(changed).toMatchObject({ version: 2, subject: 'Hi {{name}}', name: 'Welcome' });
    const same = recordOf<TemplateRecord>(await change(made.id, { subject: 'Hi {{name}}' }));
    expect(same.version).toBe(2);
    await expect(change(made.id, { name: 'Other' }, 1)).rejects.toMatchObject({
      code: 'version_mismatch',
    });
    await change(made.id, { name: 'Third' });
    const page = await templates.listTemplateVersions(
      ListTemplateVersionsRequest.fromPartial({ id: made.id, page: { page: 1, perPage: 2 } }),
      contextOf(caller),
    );
    expect([page.total, page.hasMore]).toEqual([3, true]);
    expect(listOf<TemplateVersionRecord>(page).map(({ version }) => version)).toEqual([3, 2]);
    const rest = await templates.listTemplateVersions(
      ListTemplateVersionsRequest.fromPartial({
        id: made.id,
        page: { perPage: 2, cursor: page.nextCursor },
      }),
      contextOf(caller),
    );
    expect(listOf<TemplateVersionRecord>(rest)).toMatchObject([
      {
        version: 1,
        subject: 'Welcome, {{name}}',
        author: { type: 'user', id: caller.userId, name: caller.userName },
      },
    ]);
    const first = await templates.getTemplateVersion(
      { id: made.id, version: 1 },
      contextOf(caller),
    );
    expect(recordOf<TemplateVersionRecord>(first)).toMatchObject({ name: 'Welcome', version: 1 });
    await expect(
      templates.getTemplateVersion({ id: made.id, version: 4 }, contextOf(caller)),
    ).rejects.toMatchObject({ kind: 'not_found' });
  });

  it('is checked as a whole when a part of it changes', async () => {
    const { id } = await make();
    await expect(change(id, { variablesJson: json([]) })).rejects.toThrow(
      'subject has the tag {{name}}, but variables declares no name. Declare it or correct the name.',
    );
    await expect(change(id, { bodyHtml: undefined })).rejects.toThrow(/both empty/);
  });

  it('has an alias that no other live template of the organization has', async () => {
    const first = await make({ alias: 'welcome' });
    await expect(make({ alias: 'welcome' })).rejects.toMatchObject({ code: 'alias_taken' });
    const other = await make({ alias: 'other' });
    await expect(change(other.id, { alias: 'welcome' })).rejects.toMatchObject({
      code: 'alias_taken',
    });
    await make({ alias: 'welcome' }, stranger);
    const find = (alias: string) =>
      templates
        .listTemplates(
          ListTemplatesRequest.fromPartial({ alias, page: { page: 1, perPage: 25 } }),
          contextOf(caller),
        )
        .then((page) => listOf<TemplateRecord>(page).map(({ id }) => id));
    expect(await find('welcome')).toEqual([first.id]);
    await templates.deleteTemplate({ id: first.id }, contextOf(caller));
    expect(await find('welcome')).toEqual([]);
    await make({ alias: 'welcome' });
  });

  it('is its creator’s with whatever credential they made it, and no other user’s', async () => {
    const { organizationId } = caller;
    const person = principal({ organizationId, role: 'user' });
    const withKey: Principal = { ...person, type: 'api_key', credentialId: uuidv7() };
    const made = await make({}, withKey);
    const rename = (name: string, as: Principal) =>
      templates.updateTemplate(
        UpdateTemplateRequest.fromPartial({ id: made.id, fields: ['name'], content: { name } }),
        contextOf(as),
      );
    await expect(
      rename('Theirs', principal({ organizationId, role: 'user' })),
    ).rejects.toMatchObject({ code: 'missing_access' });
    const versions = [];
    for (const as of [withKey, person, { ...withKey, credentialId: uuidv7() }]) {
      versions.push(recordOf<TemplateRecord>(await rename(as.credentialId, as)).version);
    }
    expect(versions).toEqual([2, 3, 4]);
    await templates.deleteTemplate({ id: made.id }, contextOf(person));
  });

  it('is nothing to other organizations, and gone once deleted', async () => {
    const { id } = await make();
    for (const request of [
      () => templates.getTemplate({ id }, contextOf(stranger)),
      () => templates.deleteTemplate({ id }, contextOf(stranger)),
      () => templates.previewTemplate({ id, variablesJson: Buffer.alloc(0) }, contextOf(stranger)),
    ]) {
      await expect(request()).rejects.toMatchObject({ kind: 'not_found' });
    }
    await templates.deleteTemplate({ id }, contextOf(caller));
    await expect(templates.getTemplate({ id }, contextOf(caller))).rejects.toMatchObject({
      kind: 'not_found',
    });
    await expect(
      sending.handlers.compose(
        composeRequest({ mailboxId: mailbox.id, content: fill(id, { name: 'Asha' }) }),
        contextOf(key),
      ),
    ).rejects.toMatchObject({ code: 'unknown_template' });
  });

  it('shows in a preview what is missing', async () => {
    const { id } = await make();
    const request = { id, variablesJson: json({ link: 'https://x.example/?a=1&b=2' }) };
    const shown = await templates.previewTemplate(request, contextOf(caller));
    expect(recordOf<TemplatePreviewRecord>(shown)).toEqual({
      subject: 'Welcome,',
      body_text: 'Hello , start here [https://x.example/?a=1&b=2].',
      body_html:
        '<p>Hello , <a href="https://x.example/?a=1&amp;b=2" rel="noopener noreferrer nofollow" target="_blank">start here</a>.</p>',
      missing: ['name'],
    });
  });
});

describe('mail made of a template', () => {
  it('has its subject and bodies, and says what it was made of', async () => {
    const { id } = await make();
    await change(id, { bodyText: 'Hello {{name}}: {{link}}' });
    const receipt = await sending.handlers.compose(
      composeRequest({
        mailboxId: mailbox.id,
        subject: '',
        content: fill(id, { name: 'Asha <b>\r\nBcc: x@y.example' }),
      }),
      contextOf(key),
    );
    const mail = await rawOf(receipt);
    expect(mail.subject).toBe('Welcome, Asha <b> Bcc: x@y.example');
    expect(mail.text?.replace(/\r\n/g, '\n').trim()).toBe(
      'Hello Asha <b>\nBcc: x@y.example: https://dak.example/',
    );
    expect(mail.html).toContain('Hello Asha &lt;b&gt;');
    expect(mail.bcc ?? []).toEqual([]);
    const entry = recordOf<OutboxEntryRecord>(
      await sending.handlers.getOutboxEntry({ id: receiptOf(receipt).id }, contextOf(key)),
    );
    expect(entry.template).toEqual({ id, version: 2 });
  });

  it('keeps a subject of its own, and in an answer that of the conversation', async () => {
    const { id } = await make();
    const own = await sending.handlers.compose(
      composeRequest({ mailboxId: mailbox.id, subject: 'Mine', content: fill(id, { name: 'A' }) }),
      contextOf(key),
    );
    expect((await rawOf(own)).subject).toBe('Mine');
    const conversation = await newConversationIn(sending.mail.database, caller.organizationId);
    const message = newMessage(mailbox.id, { conversation, subject: 'Lamp' });
    await sending.mail.database.inTenant(caller.organizationId, (tx) =>
      recordMessages(tx, caller.organizationId, [message]),
    );
    const answer = await sending.handlers.reply(
      replyRequest({ conversationId: conversation.id, content: fill(id, { name: 'A' }) }),
      contextOf(key),
    );
    const mail = await rawOf(answer);
    expect([mail.subject, mail.html]).toEqual(['Re: Lamp', expect.stringContaining('Hello A')]);
  });

  it.each([
    [{ templateVariablesJson: json({ name: 'A' }) }, 'template_variables needs a template_id'],
    [{ templateId: uuidv7(), bodyText: 'x' }, 'template_id and body_text exclude each other'],
    [{ templateId: uuidv7() }, 'template_id names no template'],
    [{ templateId: 'welcome' }, 'template_id must be a UUID'],
  ])('is refused with %j', async (fields, sentence) => {
    await expect(
      sending.handlers.compose(
        composeRequest({
          mailboxId: mailbox.id,
          content: { bodyText: 'templateId' in fields ? undefined : 'x', ...fields },
        }),
        contextOf(key),
      ),
    ).rejects.toThrow(sentence);
  });

  it('lacks nothing that is required', async () => {
    const { id } = await make({
      subject: '{{a}}',
      variablesJson: json([
        { name: 'a', type: 'string', required: true },
        { name: 'name', type: 'number', required: true },
        { name: 'link', type: 'string' },
      ]),
    });
    const request = composeRequest({ mailboxId: mailbox.id, content: fill(id, { link: 'x' }) });
    await expect(sending.handlers.compose(request, contextOf(key))).rejects.toMatchObject({
      code: 'missing_variables',
      message:
        'template_variables lacks a, name, which the template requires. Give a value for each.',
    });
  });

  it('is previewed as it would leave', async () => {
    const { id } = await make();
    const compose = composeRequest({
      mailboxId: mailbox.id,
      subject: '',
      content: fill(id, { name: 'Asha' }),
    });
    const shown = await sending.handlers.preview(
      PreviewRequest.fromPartial({ kind: { $case: 'compose', value: compose } }),
      contextOf(key),
    );
    expect(recordOf<SubmissionPreview>(shown)).toMatchObject({
      subject: 'Welcome, Asha',
      body_text: expect.stringContaining('Hello Asha') as string,
    });
  });

  it('is rendered for rules by a plain function', async () => {
    const { id } = await make();
    const rendered = await sending.mail.database.inTenant(caller.organizationId, (tx) =>
      renderTemplateFor(tx, caller.organizationId, id, { name: 'Rule' }),
    );
    expect(rendered).toMatchObject({ templateId: id, version: 1, subject: 'Welcome, Rule' });
  });
});

describe('a draft with a template', () => {
  it('is filled in when it is sent, with the template as it is then', async () => {
    const { id } = await make();
    const made = await drafts.createDraft(
      CreateDraftRequest.fromPartial({
        compose: composeRequest({
          mailboxId: mailbox.id,
          subject: '',
          content: fill(id, { name: 'Asha' }),
        }),
      }),
      contextOf(caller),
    );
    const draft = recordOf<DraftRecord>(made);
    expect(draft).toMatchObject({
      template_id: id,
      template_variables: { name: 'Asha' },
      body_html: null,
    });
    const update = (fields: string[], fieldsOfContent: object) =>
      drafts.updateDraft(
        UpdateDraftRequest.fromPartial({
          id: draft.id,
          fields,
          compose: composeRequest({ mailboxId: mailbox.id, content: fieldsOfContent }),
        }),
        contextOf(caller),
      );
    await expect(update(['body_text'], { bodyText: 'x' })).rejects.toThrow(
      'template_id and body_text exclude each other',
    );
    await update(['template_variables'], fill(id, { name: 'Ravi' }));
    await change(id, { bodyHtml: '<p>New text for {{name}}</p>' });
    const sent = await drafts.sendDraft({ id: draft.id }, contextOf(key));
    const mail = await rawOf(sent);
    expect([mail.subject, mail.html]).toEqual([
      'Welcome, Ravi',
      expect.stringContaining('New text for Ravi'),
    ]);
  });

  it('comes back as the text that was made, when the mail is taken back', async () => {
    const { id } = await make();
    const receipt = await sending.handlers.compose(
      composeRequest({
        mailboxId: mailbox.id,
        subject: '',
        content: { ...fill(id, { name: 'Asha' }), undoSeconds: 60 },
      }),
      contextOf(caller),
    );
    const { id: sent } = receiptOf(receipt);
    await sending.handlers.cancelOutboxEntry(
      CancelOutboxEntryRequest.fromPartial({ id: sent }),
      contextOf(caller),
    );
    const page = await drafts.listDrafts(
      ListDraftsRequest.fromPartial({ page: { page: 1, perPage: 1 } }),
      contextOf(caller),
    );
    expect(listOf<DraftRecord>(page)[0]).toMatchObject({
      subject: 'Welcome, Asha',
      body_html: expect.stringContaining('Hello Asha') as string,
      template_id: null,
      template_variables: {},
    });
  });
});
