import {
  ComposeMail,
  CreateMailbox,
  CreateRule,
  CreateTemplate,
  ForwardMail,
  ReplyMail,
  UpdateDraft,
  UpdateMailbox,
} from '@dak/contracts/api';
import {
  ComposeRequest,
  Content,
  CreateMailboxRequest,
  ForwardRequest,
  ReplyRequest,
  RuleDefinition,
  TemplateContent,
  UpdateMailboxRequest,
} from '@dak/contracts/mail';
import { parseRequest, requestOf } from '@dak/contracts/requests';
import { mailRequestOf } from './submission-request';

const ID = '6a1f0a3e-3c1f-4f5e-9d7a-0d8f6a7b8c9d';
const json = (value: unknown) => Buffer.from(JSON.stringify(value));

/** Messages of gateways that filled every field: with the values that absent fields had there. */
const content = Content.decode(
  Content.encode(
    Content.fromPartial({
      bodyText: 'Hi',
      sendAt: '2027-01-31T09:00:00+05:30',
      sendWindow: { timeZone: 'Asia/Kolkata', days: ['mon'], from: '09:00', to: '17:00' },
      setsSignature: true,
      metadataJson: json({ a: 1 }),
    }),
  ).finish(),
);

it('a mail of a former gateway is taken', () => {
  const { mailbox_id, to, subject, ...mail } = parseRequest(
    ComposeMail,
    mailRequestOf(ComposeRequest.fromPartial({ mailboxId: ID, to: ['a@b.example'], content })),
  );
  expect({ mailbox_id, to, subject }).toEqual({ mailbox_id: ID, to: ['a@b.example'], subject: '' });
  expect(mail).toMatchObject({
    body_text: 'Hi',
    send_at: '2027-01-31T03:30:00.000Z',
    send_window: { time_zone: 'Asia/Kolkata' },
    signature_id: null,
    metadata: { a: 1 },
  });
});

it('answers, forwards and changes of drafts of a former gateway are taken', () => {
  const reply = ReplyRequest.fromPartial({ replyMode: 'sender', content });
  expect(parseRequest(ReplyMail, mailRequestOf(reply)).reply_mode).toBe('sender');
  const forward = ForwardRequest.fromPartial({ includeAttachments: false, content });
  expect(parseRequest(ForwardMail, mailRequestOf(forward)).include_attachments).toBe(false);
  const empty = { content: Content.fromPartial({}) };
  for (const draft of [ComposeRequest.fromPartial(empty), ReplyRequest.fromPartial(empty)]) {
    expect(parseRequest(UpdateDraft, mailRequestOf(draft))).toMatchObject({ to: [], labels: [] });
  }
});

it('rules, templates and mailboxes of a former gateway are taken', () => {
  const action = { type: 'assign', user_id: ID.toUpperCase(), user_name: 'Zoë' };
  const rule = RuleDefinition.fromPartial({
    name: 'A',
    kind: 'automation',
    enabled: true,
    match: 'all',
    conditionsJson: json([{ field: 'subject', operator: 'exists' }]),
    actionsJson: json([action]),
  });
  expect(parseRequest(CreateRule, requestOf(rule))).toMatchObject({
    conditions: [{ field: 'subject', operator: 'exists', value: true, negate: false }],
    actions: [{ ...action, user_id: ID }],
  });
  const template = TemplateContent.fromPartial({
    name: 'A',
    bodyText: 'x',
    variablesJson: json([]),
  });
  expect(parseRequest(CreateTemplate, requestOf(template))).toMatchObject({
    alias: null,
    subject: '',
    body_html: null,
  });
  const mailbox = CreateMailboxRequest.fromPartial({ address: 'a@b.example', kind: 'hosted' });
  expect(parseRequest(CreateMailbox, requestOf(mailbox))).toMatchObject({ department_ids: [] });
  const patch = UpdateMailboxRequest.fromPartial({
    id: ID,
    fields: ['display_name', 'settings', 'assigned_user_ids'],
    settingsJson: json({ undo_seconds: null }),
  });
  expect(parseRequest(UpdateMailbox, requestOf(patch, patch.fields))).toEqual({
    display_name: null,
    settings: { undo_seconds: null },
    assigned_user_ids: [],
  });
});
