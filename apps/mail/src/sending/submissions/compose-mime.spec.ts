import MailComposer from 'nodemailer/lib/mail-composer';
import { parseMessage } from '@dak/formats/rfc5322';
import { composeMime, type OutgoingMail } from './compose-mime';

function mail(overrides: Partial<OutgoingMail> = {}): OutgoingMail {
  return {
    messageId: '0197a1b2-c3d4-7000-8000-0123456789ab@desk.example',
    date: new Date('2026-11-21T11:00:00Z'),
    from: { email: 'desk@desk.example', name: 'Jörg "Desk"' },
    replyTo: [],
    to: [{ email: 'meera@customer.example', name: 'Meera' }],
    cc: [],
    subject: 'Your order',
    text: 'Hello,\nit is on its way.\n\n-- \nDesk',
    html: null,
    inReplyTo: null,
    references: [],
    files: [],
    autoSubmitted: null,
    ...overrides,
  };
}

it('writes a plain mail as RFC 5322 has it', async () => {
  const raw = await composeMime(
    mail({ inReplyTo: 'b@x.example', references: ['a@x.example', 'b@x.example'] }),
  );
  expect(raw.toString()).toBe(
    [
      'Content-Transfer-Encoding: quoted-printable',
      'From: =?UTF-8?Q?J=C3=B6rg_=22Desk=22?= <desk@desk.example>',
      'To: Meera <meera@customer.example>',
      'In-Reply-To: <b@x.example>',
      'References: <a@x.example> <b@x.example>',
      'Subject: Your order',
      'Message-ID: <0197a1b2-c3d4-7000-8000-0123456789ab@desk.example>',
      'Date: Sat, 21 Nov 2026 11:00:00 +0000',
      'MIME-Version: 1.0',
      'Content-Type: text/plain; charset=utf-8',
      '',
      'Hello,',
      'it is on its way.',
      '',
      '--=20',
      'Desk',
      '',
    ].join('\r\n'),
  );
});

it.each([
  ['', 'empty'],
  ['one line', 'without a line end'],
  ['ends in a line end\n', 'with one'],
  ['é'.repeat(100) + '\n.dot\n..\ntab\t\n', 'with dots and tabs'],
  ['a\r\nb\rc', 'with other line ends'],
  ['यह हिंदी में लिखा है। '.repeat(30), 'in another script'],
  ['😀'.repeat(60), 'in emoji'],
])('reads back the text it was given (%#: %s)', async (text) => {
  const raw = await composeMime(mail({ text }));
  expect(raw.toString('latin1')).toMatch(/\r\n$/);
  for (const line of raw.toString('latin1').split('\r\n'))
    expect(line.length).toBeLessThanOrEqual(78);
  expect(parseMessage(raw).text?.trimEnd()).toBe(text.replace(/\r\n?/g, '\n').trimEnd());
});

it('writes plain mail as the streaming builder does', async () => {
  const text = 'Grüße, ' + 'lang '.repeat(40) + '\n-- \nDesk\n';
  const built = await new Promise((resolve, reject) => {
    new MailComposer({
      messageId: `<${mail().messageId}>`,
      date: mail().date,
      newline: 'windows',
      from: { name: '', address: 'desk@desk.example' },
      to: [{ name: '', address: 'meera@customer.example' }],
      subject: 'Your order',
      text: { content: text, contentTransferEncoding: 'quoted-printable' },
    })
      .compile()
      .build((error, message) => (error ? reject(error) : resolve(message)));
  });
  const ours = await composeMime(
    mail({
      text,
      from: { email: 'desk@desk.example', name: '' },
      to: [{ email: 'meera@customer.example', name: '' }],
    }),
  );
  expect(ours.toString()).toBe(String(built));
});

it('is the same for the same input, boundaries included', async () => {
  const rich = mail({
    html: '<p>See <img src="cid:pic"></p>',
    files: [
      {
        filename: 'päper.pdf',
        contentType: 'application/pdf',
        disposition: 'attachment',
        contentId: null,
        content: Buffer.from('%PDF'),
      },
      {
        filename: 'pic.png',
        contentType: 'image/png',
        disposition: 'inline',
        contentId: 'pic',
        content: Buffer.alloc(500, 7),
      },
      {
        filename: 'empty.txt',
        contentType: 'text/plain',
        disposition: 'attachment',
        contentId: null,
        content: Buffer.alloc(0),
      },
      {
        filename: 'old.eml',
        contentType: 'message/rfc822',
        disposition: 'attachment',
        contentId: null,
        content: Buffer.from([0, 255, 13, 10, 46]),
      },
    ],
  });
  const raw = await composeMime(rich);
  expect((await composeMime(rich)).equals(raw)).toBe(true);
  const parsed = parseMessage(raw);
  expect(parsed.html?.trim()).toBe('<p>See <img src="cid:pic"></p>');
  expect(
    parsed.attachments.map(({ filename, contentType, disposition, contentId }) => [
      filename,
      contentType,
      disposition,
      contentId,
    ]),
  ).toEqual(
    expect.arrayContaining([
      ['päper.pdf', 'application/pdf', 'attachment', null],
      ['pic.png', 'image/png', 'inline', 'pic'],
      ['empty.txt', 'text/plain', 'attachment', null],
      ['old.eml', 'application/octet-stream', 'attachment', null],
    ]),
  );
  const eml = parsed.attachments.find(({ filename }) => filename === 'old.eml')!;
  expect(Buffer.from(eml.content)).toEqual(Buffer.from([0, 255, 13, 10, 46]));
});

it('says so when no person wrote it', async () => {
  const headers = (await composeMime(mail({ autoSubmitted: 'auto-replied' }))).toString();
  expect(headers).toContain('\r\nAuto-Submitted: auto-replied\r\n');
  expect(headers).toContain('\r\nX-Auto-Response-Suppress: All\r\n');
  expect((await composeMime(mail())).toString()).not.toContain('Auto-Submitted');
});

it('lets nothing out of a header field', async () => {
  const raw = await composeMime(
    mail({
      subject: 'a\r\nBcc: spy@x.example',
      to: [{ email: 'meera@customer.example', name: 'x\r\nBcc: spy@x.example' }],
    }),
  );
  const { headers } = parseMessage(raw);
  expect(headers.map(({ name }) => name.toLowerCase())).not.toContain('bcc');
});
