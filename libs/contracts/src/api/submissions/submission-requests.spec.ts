import type { z } from 'zod';
import { parseRequest } from '../../requests';
import { CreateDraft, UpdateDraft } from '../drafts/draft-requests';
import { MoveOutboxEntry } from '../outbox/outbox-requests';
import { SUBMISSION_LIMITS } from './submission-limits';
import { ComposeMail, ForwardMail, PreviewMail, ReplyMail } from './submission-requests';

const ID = '6a1f0a3e-3c1f-4f5e-9d7a-0d8f6a7b8c9d';
const { mail_body_bytes: MAX_BODY } = SUBMISSION_LIMITS;
const window = { time_zone: 'Asia/Kolkata', days: ['mon'], from: '09:00', to: '17:00' };
const names = (count: number) => Array.from({ length: count }, (_, index) => `a${index}@b.example`);

const refusalOf = (schema: z.ZodType, body: object) => {
  try {
    parseRequest(schema, body);
    return null;
  } catch (error) {
    const { kind, code, message } = error as { kind: string; code: string; message: string };
    return { kind, code, message };
  }
};

describe.each([
  ['a mail', ComposeMail, { mailbox_id: ID }],
  ['an answer', ReplyMail, {}],
  ['a forward', ForwardMail, {}],
  ['a preview', PreviewMail, { conversation_id: ID }],
  ['a draft', CreateDraft, { mailbox_id: ID }],
  ['a patch of a draft', UpdateDraft, {}],
])('%s', (_, schema, origin) => {
  it.each([
    [{ send_window: { ...window, time_zone: '+05:30' } }, 'send_window.time_zone must be an IANA'],
    [{ send_window: { ...window, time_zone: 'Mars/Base' } }, 'send_window.time_zone must be an'],
    [{ send_window: { ...window, days: [] } }, 'send_window.days must have at least 1'],
    [{ send_window: { ...window, days: ['funday'] } }, 'send_window.days[0] must be one of'],
    [{ send_window: { ...window, to: '24:00' } }, 'send_window.to must be a time as HH:MM.'],
    [{ send_window: { ...window, zone: 'UTC' } }, 'send_window.zone is not a member of it'],
    [{ send_at: 'tomorrow' }, 'send_at must be an RFC 3339 date-time'],
    [
      { send_at: '2027-01-31T09:00:00Z', scheduled_for: '2027-01-31T09:00:00+05:30' },
      'Send only send_at: scheduled_at and scheduled_for are other names of it, and they disagree.',
    ],
    [{ undo_seconds: -1 }, 'undo_seconds must be at least 0.'],
    [{ undo_seconds: 121 }, 'undo_seconds must be at most 120.'],
    [{ template_id: 'welcome' }, 'template_id must be a UUID.'],
    [{ signature_id: 'mine' }, 'signature_id must be a UUID.'],
    [{ on_behalf_of_run_id: '7' }, 'on_behalf_of_run_id must be a UUID.'],
    [{ signature_position: 'top' }, 'signature_position must be one of "above_quote", "end".'],
    [{ template_variables: ['a'] }, 'template_variables must be an object.'],
    [{ template_id: ID, body_text: 'x' }, 'template_id and body_text exclude each other: the'],
    [{ template_id: ID, body_html: '' }, 'template_id and body_html exclude each other: the'],
    [{ attachment_tokens: names(21) }, 'attachment_tokens must name at most 20 files.'],
    [{ reply_to: names(51) }, 'reply_to must not name more than 50 addresses.'],
    [{ labels: ['Urgent'] }, 'labels[0] must hold labels of 1 to 63'],
    [{ labels: ['unread'] }, 'labels[0]: unread is a system label'],
    [{ labels: Array.from({ length: 65 }, () => 'a') }, 'labels must have at most 64 elements.'],
    [{ metadata: { a: null } }, 'metadata.a'],
    [{ metadata: Object.fromEntries(names(65).map((name) => [name, 1])) }, 'metadata must have at'],
    [{ to: names(201) }, 'to must have at most 200 elements.'],
  ])('is refused with %j', (fields, sentence) => {
    expect(refusalOf(schema, { ...origin, ...fields })).toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(sentence) as string,
    });
  });

  it.each([
    [{ body_text: 'ä'.repeat(MAX_BODY / 2 + 1) }, 'too_large', 'body_too_large', 'body_text'],
    [{ body_html: 'a'.repeat(MAX_BODY + 1) }, 'too_large', 'body_too_large', 'body_html'],
    [
      { template_variables: { a: 'x'.repeat(256 * 1024) } },
      'too_large',
      'body_too_large',
      'template_variables',
    ],
    [{ list_unsubscribe: 'x' }, 'refused', 'not_available', 'list_unsubscribe'],
    [{ tracking: { opens: true } }, 'refused', 'not_available', 'tracking'],
    [{ tracking: { clicks: true } }, 'refused', 'not_available', 'tracking'],
    [{ reply_to: ['a@b.example', 'nobody'] }, 'invalid', 'invalid_recipient', 'reply_to[1]'],
    [{ cc: ['a@b.example\r\nBcc: c@d.example'] }, 'invalid', 'invalid_characters', 'cc[0]'],
  ])('is refused with %j as a fault of its own kind', (fields, kind, code, field) => {
    const refusal = refusalOf(schema, { ...origin, ...fields });
    expect(refusal).toMatchObject({ kind, code });
    expect(refusal!.message.startsWith(`${field} `)).toBe(true);
  });

  it('has its time as send_at, and each token, label and id once and in one form', () => {
    const fields = {
      scheduled_at: '2027-01-31T09:00:00+05:30',
      send_at: '2027-01-31T03:30:00Z',
      template_id: ID.toUpperCase(),
      attachment_tokens: ['upl_a', 'upl_b', 'upl_a'],
      labels: ['a', 'a'],
      send_window: window,
      tracking: { opens: false },
      list_unsubscribe: null,
    };
    expect(parseRequest(schema, { ...origin, ...fields })).toMatchObject({
      send_at: '2027-01-31T03:30:00.000Z',
      template_id: ID,
      attachment_tokens: ['upl_a', 'upl_b'],
      labels: ['a'],
      send_window: window,
    });
  });

  it('leaves out what it does not say', () => {
    const { include_attachments: _, ...rest } = parseRequest(schema, origin) as Record<
      string,
      unknown
    >;
    expect(rest).toEqual(origin);
    expect(parseRequest(schema, { ...origin, scheduled_for: null })).toMatchObject({
      send_at: null,
    });
  });
});

it.each([
  [ComposeMail, { to: ['nobody'] }, 'invalid_recipient', 'to[0] is not a mail address.'],
  [ComposeMail, { subject: 'a\nb' }, 'invalid_characters', 'subject must not contain'],
  [ComposeMail, { mailbox_id: undefined }, 'invalid_request', 'mailbox_id is missing'],
  [ReplyMail, { reply_mode: 'some' }, 'invalid_request', 'reply_mode must be one of'],
  [ReplyMail, { expected_last_message_id: '1' }, 'invalid_request', 'expected_last_message_id'],
  [ForwardMail, { message_id: '1' }, 'invalid_request', 'message_id must be a UUID.'],
  [PreviewMail, { mailbox_id: undefined }, 'invalid_request', 'Send either mailbox_id'],
  [PreviewMail, { conversation_id: ID }, 'invalid_request', 'Send either mailbox_id'],
  [CreateDraft, { conversation_id: ID }, 'invalid_request', 'Send either mailbox_id'],
  [CreateDraft, { to: names(51) }, 'invalid_request', 'to must not name more than 50'],
  [
    UpdateDraft,
    { cc: ['x'.repeat(601)] },
    'invalid_request',
    'cc must not name an address of more',
  ],
  [UpdateDraft, { to: ['a\nb'] }, 'invalid_characters', 'to[0] must not contain'],
  [MoveOutboxEntry, { scheduled_at: 'now' }, 'invalid_request', 'scheduled_at must be an RFC 3339'],
])('what one kind refuses: %#', (schema, fields, code, sentence) => {
  expect(refusalOf(schema, { mailbox_id: ID, ...fields })).toMatchObject({
    code,
    message: expect.stringContaining(sentence) as string,
  });
});

it('an address of a draft may be incomplete', () => {
  expect(parseRequest(UpdateDraft, { to: ['half an addr', ''] }).to).toEqual(['half an addr', '']);
});

it.each([
  ['to', Array.from({ length: 500_000 }, () => 'nobody')],
  ['labels', Array.from({ length: 500_000 }, () => 'Urgent')],
  ['metadata', Object.fromEntries(Array.from({ length: 300_000 }, (_, i) => [`a${i}`, null]))],
  [
    'template_variables',
    Object.fromEntries(Array.from({ length: 300_000 }, (_, i) => [`a${i}`, 1])),
  ],
  ['send_window', { ...window, days: Array.from({ length: 500_000 }, () => 'funday') }],
])('%s of many members costs no sentence for each', (field, value) => {
  const started = performance.now();
  expect(refusalOf(ComposeMail, { mailbox_id: ID, [field]: value })!.message).toMatch(
    /^[a-z_.]+ must have at most \d+ (elements|keys)\.$/,
  );
  expect(performance.now() - started).toBeLessThan(1_000);
});

it('a long list of faults says only the first', () => {
  const body = { mailbox_id: ID, to: Array.from({ length: 200 }, () => 'nobody') };
  expect(refusalOf(ComposeMail, body)!.message.match(/is not a mail address/g)).toHaveLength(1);
});
