import { parseMessage } from './parse-message';

const parse = (text: string) => parseMessage(Buffer.from(text));

describe('parseMessage', () => {
  it('reads the fields of a message', () => {
    const message = parse(
      [
        'From: =?utf-8?q?J=C3=B6rn?= <jorn@Example.com>',
        'Sender: desk@example.com',
        'Reply-To: desk@example.com',
        'To: a@b.c',
        'Cc: d@e.f',
        'To: A <a@b.c>, a@b.c',
        'Bcc: g@h.i',
        'Subject: Hello',
        ' there',
        'Date: Mon, 1 Jan 2024 10:00:00 +0530',
        'Message-ID: <m1@example.com>',
        'In-Reply-To: <m0@example.com>',
        'References: <r0@example.com>',
        ' <m0@example.com>',
        '',
        'Hi',
      ].join('\r\n'),
    );
    expect(message).toMatchObject({
      from: [{ name: 'Jörn', address: 'jorn@example.com' }],
      sender: [{ name: '', address: 'desk@example.com' }],
      replyTo: [{ name: '', address: 'desk@example.com' }],
      to: [
        { name: '', address: 'a@b.c' },
        { name: 'A', address: 'a@b.c' },
      ],
      cc: [{ name: '', address: 'd@e.f' }],
      bcc: [{ name: '', address: 'g@h.i' }],
      subject: 'Hello there',
      date: '2024-01-01T04:30:00Z',
      messageId: 'm1@example.com',
      inReplyTo: ['m0@example.com'],
      references: ['r0@example.com', 'm0@example.com'],
      text: 'Hi',
      html: null,
      attachments: [],
      defects: [],
    });
    expect(message.leaves.map(({ path }) => path)).toEqual(['1']);
  });

  it('reads an empty input as an empty message', () => {
    expect(parse('')).toMatchObject({
      subject: '',
      from: [],
      date: null,
      messageId: null,
      text: null,
      defects: [],
    });
  });

  it('ends an inner multipart at the boundary of the outer one', () => {
    const { leaves, defects } = parse(
      'Content-Type: multipart/mixed; boundary=1\n\n--1\nContent-Type: multipart/mixed; boundary=2\n\n--2\n\na\n--1\n\nb\n--1--\n',
    );
    expect(leaves.map(({ path, content }) => [path, Buffer.from(content).toString()])).toEqual([
      ['1.1', 'a'],
      ['2', 'b'],
    ]);
    expect(defects).toEqual(['unterminated_multipart']);
  });

  it('does not take a longer boundary for its own', () => {
    const { leaves } = parse(
      'Content-Type: multipart/mixed; boundary=b\n\n--b\n\n--b-1\n--bc\n--b--\n',
    );
    expect(Buffer.from(leaves[0]?.content ?? []).toString()).toBe('--b-1\n--bc');
  });

  it('shows the text of a multipart whose boundary never comes', () => {
    const message = parse('Content-Type: multipart/mixed; boundary=b\n\nHello\n');
    expect([message.text, message.defects]).toEqual(['Hello\n', ['missing_boundary']]);
  });

  it('gives an embedded message its own level, headers and bytes', () => {
    const inner = 'Subject: inner\nContent-Type: multipart/mixed; boundary=i\n\n--i\n\nx\n--i--\n';
    const { root, attachments, leaves, subject } = parse(
      `Subject: outer\nContent-Type: multipart/mixed; boundary=o\n\n--o\n\nhi\n--o\nContent-Type: message/rfc822; name=a.eml\n\n${inner}\n--o--\n`,
    );
    expect(subject).toBe('outer');
    expect(leaves.map(({ path }) => path)).toEqual(['1', '2.1.1']);
    expect(root.children[1]?.embeddedHeaders?.[0]).toEqual({ name: 'Subject', value: 'inner' });
    expect(attachments).toHaveLength(1);
    expect(attachments[0]).toMatchObject({
      filename: 'a.eml',
      contentType: 'message/rfc822',
      path: '2',
    });
    expect(Buffer.from(attachments[0]?.content ?? []).toString()).toBe(inner);
  });

  it('reads a message that was encoded against RFC 2046', () => {
    const inner = Buffer.from('Subject: inner\n\nx').toString('base64');
    const { root, leaves } = parse(
      `Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n${inner}\n`,
    );
    expect(root.embeddedHeaders?.[0]?.value).toBe('inner');
    expect(Buffer.from(leaves[0]?.content ?? []).toString()).toBe('x');
  });

  it('takes the parts of a digest for messages', () => {
    const { root } = parse(
      'Content-Type: multipart/digest; boundary=b\n\n--b\n\nSubject: one\n\nx\n--b--\n',
    );
    expect(root.children[0]?.contentType).toBe('message/rfc822');
    expect(root.children[0]?.embeddedHeaders?.[0]?.value).toBe('one');
  });

  it('follows the limits that it is given', () => {
    const raw = Buffer.from(
      'Content-Type: multipart/mixed; boundary=b\n\n--b\n\n1\n--b\n\n2\n--b\n\n3\n--b--\n',
    );
    const { leaves } = parseMessage(raw, { maxParts: 2 });
    expect(leaves.map(({ contentType }) => contentType)).toEqual([
      'text/plain',
      'application/octet-stream',
    ]);
  });
});

describe('the body for display', () => {
  const part = (type: string, body: string, extra = '') =>
    `Content-Type: ${type}\n${extra}\n${body}\n`;
  const multipart = (subtype: string, boundary: string, ...parts: string[]) =>
    `Content-Type: multipart/${subtype}; boundary=${boundary}\n\n${parts.map((each) => `--${boundary}\n${each}`).join('')}--${boundary}--\n`;

  it('is text and HTML of an alternative, with related images as inline attachments', () => {
    const { text, html, attachments } = parse(
      multipart(
        'mixed',
        'm',
        multipart(
          'related',
          'r',
          multipart('alternative', 'a', part('text/plain', 'T'), part('text/html', '<p>H</p>')),
          part('image/png', 'x', 'Content-ID: <i1>\n'),
        ),
        part('application/pdf; name=a.pdf', 'pdf'),
      ),
    );
    expect([text, html]).toEqual(['T', '<p>H</p>']);
    expect(
      attachments.map(({ filename, disposition, contentId, path }) => [
        filename,
        disposition,
        contentId,
        path,
      ]),
    ).toEqual([
      [null, 'inline', 'i1', '1.2'],
      ['a.pdf', 'attachment', null, '2'],
    ]);
  });

  it('is only HTML when there is only HTML', () => {
    expect(parse(part('text/html; charset=utf-8', '<p>ä'))).toMatchObject({
      text: null,
      html: '<p>ä\n',
      attachments: [],
    });
  });

  it('is never a text that was attached', () => {
    const { text, attachments } = parse(
      multipart(
        'mixed',
        'm',
        part('text/plain', 'notes', 'Content-Disposition: attachment; filename=notes.txt\n'),
        part('text/plain', 'body'),
      ),
    );
    expect(text).toBe('body');
    expect(attachments.map(({ filename }) => filename)).toEqual(['notes.txt']);
  });

  it('lists the second text of a message rather than losing it', () => {
    const { text, attachments } = parse(
      multipart('mixed', 'm', part('text/plain', 'one'), part('text/plain', 'two')),
    );
    expect(text).toBe('one');
    expect(attachments.map(({ contentType, disposition }) => [contentType, disposition])).toEqual([
      ['text/plain', 'inline'],
    ]);
  });

  it('has LF line ends and the declared charset', () => {
    const raw = Buffer.from(
      'Content-Type: text/plain; charset=iso-8859-1\r\n\r\nGr\xfc\xdfe\r\nB\r\n',
      'latin1',
    );
    expect(parseMessage(raw).text).toBe('Grüße\nB\n');
  });

  it('reports a charset that nobody knows', () => {
    expect(parse(part('text/plain; charset=x-klingon', 'a')).defects).toEqual(['unknown_charset']);
  });
});
