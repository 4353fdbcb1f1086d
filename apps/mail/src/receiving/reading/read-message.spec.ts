import { createHash } from 'node:crypto';

import { inspectMessage } from '../../commands/inspect-message';
import { readMessage } from './read-message';

const raw = (lines: string[]) => Buffer.from(lines.join('\r\n'));
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

const REPLY = [
  'From: "Anna Berg" <anna@example.org>',
  'To: Desk <desk@example.com>',
  'Cc: bela@example.org',
  'Subject: AW: Your order',
  'Date: Mon, 1 Jan 2024 10:00:00 +0100',
  'Message-ID: <r1@example.org>',
  'In-Reply-To: <ours@example.com> (your mail of Sunday)',
  'References: <first@example.com> <ours@example.com>',
  `Thread-Index: ${Buffer.from(Array.from({ length: 27 }, (_, index) => index)).toString('base64')}`,
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary=m',
  '',
  '--m',
  'Content-Type: multipart/alternative; boundary=a',
  '',
  '--a',
  'Content-Type: text/plain; charset=utf-8',
  '',
  'Yes, please.',
  '',
  'Am 31.12.2023 um 10:00 schrieb Desk <desk@example.com>:',
  '> Do you want it?',
  '--a',
  'Content-Type: text/html; charset=utf-8',
  '',
  '<p onclick="x()">Yes, <b>please</b>.<img src="cid:logo"><img src="http://t.example/p"></p>',
  '<blockquote type="cite">Do you want it?</blockquote>',
  '--a--',
  '--m',
  'Content-Type: application/pdf; name=order.pdf',
  'Content-Disposition: attachment; filename=order.pdf',
  'Content-Transfer-Encoding: base64',
  '',
  'JVBERg==',
  '--m--',
  '',
];

describe('readMessage', () => {
  it('reads what a person wrote, and what belongs to it', () => {
    expect(readMessage(raw(REPLY))).toMatchObject({
      kind: 'human',
      mayAutoReply: true,
      messageId: 'r1@example.org',
      from: [{ name: 'Anna Berg', address: 'anna@example.org' }],
      textNew: 'Yes, please.',
      htmlSafe:
        '<p>Yes, <b>please</b>.<img src="cid:logo" /><img data-remote-src="http://t.example/p" /></p>\n<blockquote type="cite">Do you want it?</blockquote>',
      extraction: { method: 'attribution', language: 'de' },
      isTextDerived: false,
      preview: 'Yes, please.',
      thread: {
        inReplyTo: 'ours@example.com',
        references: ['first@example.com', 'ours@example.com'],
        baseSubject: 'Your order',
        isReplySubject: true,
        threadIndexRoot: '000102030405060708090a0b0c0d0e0f101112131415',
        participants: ['anna@example.org', 'desk@example.com', 'bela@example.org'],
      },
      attachments: [
        {
          filename: 'order.pdf',
          contentType: 'application/pdf',
          sizeBytes: 4,
          sha256: sha256('%PDF'),
        },
      ],
      parts: [
        { path: '1.1', contentType: 'text/plain', charset: 'utf-8' },
        { path: '1.2', contentType: 'text/html' },
        { path: '2', contentType: 'application/pdf', sizeBytes: 4, sha256: sha256('%PDF') },
      ],
      defects: [],
    });
    expect(readMessage(raw(REPLY)).htmlNew?.trim()).not.toContain('Do you want it?');
  });

  it('crosses a thread as it is', () => {
    const reading = readMessage(raw(REPLY));
    expect(structuredClone(reading)).toEqual(reading);
  });

  it('makes the text of a message that has only HTML', () => {
    const reading = readMessage(
      raw(['From: a@b.c', 'Content-Type: text/html', '', '<p>Hello</p><p>World</p>']),
    );
    expect(reading).toMatchObject({
      text: 'Hello\n\nWorld',
      textNew: 'Hello\n\nWorld',
      isTextDerived: true,
    });
  });

  it('cuts the preview at 200 characters and no character in two', () => {
    const reading = readMessage(
      raw(['From: a@b.c', 'Content-Type: text/plain; charset=utf-8', '', `${'𝔘 '.repeat(150)}`]),
    );
    expect([...reading.preview]).toHaveLength(199);
    expect(reading.preview).toBe('𝔘 '.repeat(100).trim());
  });

  it.each([
    ['auto_reply', ['Auto-Submitted: auto-replied']],
    ['auto_reply', ['Auto-Submitted: auto-generated']],
    ['list', ['List-Id: <dev.example.org>']],
    ['list', ['List-Id: <dev.example.org>', 'Auto-Submitted: auto-generated']],
    ['human', ['X-Auto-Response-Suppress: All']],
  ])('takes for %s: %j, and answers none by itself', (kind, headers) => {
    const reading = readMessage(raw(['From: a@b.c', ...headers, '', 'Hi']));
    expect(reading).toMatchObject({ kind, mayAutoReply: false });
  });

  it('reads a delivery report with the message that it is about', () => {
    const reading = readMessage(
      raw([
        'From: MAILER-DAEMON@mx.example.net',
        'Auto-Submitted: auto-replied',
        'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
        '',
        '--b',
        'Content-Type: message/delivery-status',
        '',
        'Reporting-MTA: dns; mx.example.net',
        '',
        'Final-Recipient: rfc822; anna@example.org',
        'Action: failed',
        'Status: 5.1.1',
        'Diagnostic-Code: smtp; 550 5.1.1 no such user',
        '',
        '--b',
        'Content-Type: message/rfc822',
        '',
        'Message-ID: <ours@example.com>',
        'Subject: Your order',
        '',
        'x',
        '--b--',
      ]),
    );
    expect(reading).toMatchObject({
      kind: 'dsn',
      mayAutoReply: false,
      deliveryStatus: [
        {
          recipient: 'anna@example.org',
          smtpCode: 550,
          hard: true,
          reportingMta: 'mx.example.net',
        },
      ],
      reportedMessage: { messageId: 'ours@example.com', subject: 'Your order' },
      feedback: null,
    });
  });

  it('reads a read receipt', () => {
    const reading = readMessage(
      raw([
        'From: anna@example.org',
        'Content-Type: multipart/report; boundary=b',
        '',
        '--b',
        'Content-Type: message/disposition-notification',
        '',
        'Original-Message-ID: <ours@example.com>',
        'Disposition: manual-action/MDN-sent-manually; displayed',
        '--b--',
      ]),
    );
    expect(reading).toMatchObject({
      kind: 'mdn',
      disposition: { type: 'displayed', originalMessageId: 'ours@example.com' },
    });
  });

  it.each([
    ['nothing', ''],
    ['noise', '\0\xff\x01\r\r\n\n:'],
    ['a message of headers only', 'From: a@b.c\r\nSubject: x'],
    [
      'an endless boundary',
      `Content-Type: multipart/mixed; boundary=x\r\n\r\n${'--x\r\n'.repeat(5000)}`,
    ],
    ['a hostile header name', '__proto__: x\r\nconstructor: y\r\n\r\nHi'],
  ])('never throws: %s', (_, text) => {
    const reading = readMessage(Buffer.from(text, 'latin1'));
    expect(reading.sizeBytes).toBe(text.length);
    expect(reading.defects).not.toContain('reading_failed');
  });
});

describe('inspectMessage', () => {
  it('says all of it in the documented fields', () => {
    const inspection = inspectMessage('reply.eml', raw(REPLY));
    expect(Object.keys(inspection)).toEqual([
      'file',
      'message_id',
      'in_reply_to',
      'references',
      'from',
      'to',
      'cc',
      'subject',
      'date',
      'text',
      'html',
      'text_new',
      'attachments',
      'parts',
      'kind',
      'dsn',
      'feedback',
    ]);
    expect(inspection).toMatchObject({
      file: 'reply.eml',
      message_id: 'r1@example.org',
      in_reply_to: 'ours@example.com',
      from: [{ email: 'anna@example.org', name: 'Anna Berg' }],
      date: '2024-01-01T09:00:00Z',
      text_new: 'Yes, please.',
      attachments: [
        {
          filename: 'order.pdf',
          content_type: 'application/pdf',
          size_bytes: 4,
          sha256: sha256('%PDF'),
          content_id: null,
          disposition: 'attachment',
        },
      ],
      kind: 'human',
      dsn: [],
      feedback: null,
    });
    expect(inspection.html).toContain('onclick');
  });
});
