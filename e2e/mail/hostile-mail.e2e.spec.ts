import { eventually } from '@dak/testing/waiting';
import { onTheWire, openSession, sendMail, transact } from '../stack/sending-mail';
import { startStack, type Stack } from '../stack/stack';
import { createTenant, type Tenant } from '../stack/tenant';

const MAX_BYTES = 2 * 1024 * 1024;

interface Mail {
  header?: string;
  body: string | Buffer;
}

const nested = (depth: number): Mail => {
  let body = 'Content-Type: text/plain\r\n\r\nthe core\r\n';
  for (let i = 0; i < depth; i += 1) {
    body = `Content-Type: multipart/mixed; boundary=b${i}\r\n\r\n--b${i}\r\n${body}\r\n--b${i}--\r\n`;
  }
  const end = body.indexOf('\r\n\r\n');
  return { header: `MIME-Version: 1.0\r\n${body.slice(0, end)}`, body: body.slice(end + 4) };
};

const wrapped = (depth: number): Mail => ({
  header: 'MIME-Version: 1.0\r\nContent-Type: message/rfc822',
  body: `${'Content-Type: message/rfc822\r\n\r\n'.repeat(depth)}Subject: core\r\n\r\nthe core\r\n`,
});

const manyParts = (count: number, type: string): Mail => ({
  header: 'MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b',
  body: `${`--b\r\n${type}\r\n\r\nx\r\n`.repeat(count)}--b--\r\n`,
});

const asFile = (filename: string): Mail => ({
  header: 'MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b',
  body: `--b\r\nContent-Type: text/plain\r\nContent-Disposition: attachment; filename="${filename}"\r\n\r\ncontent\r\n--b--\r\n`,
});

/** Every one is mail that a stranger can send; what was taken with 250 must be there to read. */
const HOSTILE: Readonly<Record<string, Mail>> = {
  'multiparts nested 5 000 deep': nested(5_000),
  'messages within messages, 3 000 deep': wrapped(3_000),
  '10 000 parts of text': manyParts(10_000, 'Content-Type: text/plain'),
  '10 000 files': manyParts(
    10_000,
    'Content-Type: application/octet-stream\r\nContent-Disposition: attachment; filename=a',
  ),
  '10 000 parts without a header': manyParts(10_000, ''),
  'a multipart whose end never comes': {
    header: 'MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b',
    body: `--b\r\n\r\n${'--bb\r\n'.repeat(50_000)}`,
  },
  'a multipart with the boundary of its parent': {
    header: 'MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b',
    body: '--b\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n'.repeat(2_000),
  },
  'one line of a megabyte': { body: `${'x'.repeat(1024 * 1024)}\r\n` },
  'a header line of a megabyte': { header: `X-Long: ${'y'.repeat(1024 * 1024)}`, body: 'a\r\n' },
  '20 000 header fields': { header: 'X-Many: a\r\n'.repeat(20_000).trim(), body: 'a\r\n' },
  'a field folded 50 000 times': { header: `X-Folded: a${'\r\n a'.repeat(50_000)}`, body: 'a\r\n' },
  '20 000 recipients in To': {
    header: `Cc: ${'a@b.example, '.repeat(20_000)}z@b.example`,
    body: '',
  },
  'comments nested 100 000 deep': { header: `Reply-To: ${'('.repeat(100_000)}`, body: 'a\r\n' },
  '10 000 References': { header: `References: ${'<a@b>\r\n '.repeat(10_000)}<z@b>`, body: 'a\r\n' },
  'encoded words without end': {
    header: `Comments: ${'=?utf-8?q?=00=ff?= '.repeat(20_000)}`,
    body: '',
  },
  'NUL and control characters': { body: Buffer.from('a\0b\x01\x1b[2J\x7f\r\n') },
  'a NUL in the header': { header: 'X-Nul: a\0b', body: 'a\r\n' },
  '8-bit text of no charset': { body: Buffer.from([0xc3, 0x28, 0xff, 0xfe, 0x80, 0x0d, 0x0a]) },
  'an unknown charset': { header: 'Content-Type: text/plain; charset=x-nonsense', body: 'a\r\n' },
  'base64 that is none': {
    header: 'Content-Type: text/plain\r\nContent-Transfer-Encoding: base64',
    body: '!!!! not base64 ====\r\n'.repeat(1_000),
  },
  'quoted-printable that is none': {
    header: 'Content-Type: text/plain\r\nContent-Transfer-Encoding: quoted-printable',
    body: '=ZZ=\r\n=0=\r\n=\r\n'.repeat(1_000),
  },
  'HTML nested 50 000 deep': {
    header: 'Content-Type: text/html',
    body: `${`${'<div>'.repeat(100)}\r\n`.repeat(500)}\r\n`,
  },
  'HTML of open tags': { header: 'Content-Type: text/html', body: `${'<a '.repeat(100_000)}\r\n` },
  'a file called ../../../etc/passwd': asFile('../../../etc/passwd'),
  'a file called ..\\..\\boot.ini': asFile('..\\\\..\\\\boot.ini'),
  'a file called ..': asFile('..'),
  'a file whose name has a NUL': asFile('a\0b.txt'),
  'an empty mail': { body: '' },
  'lines of dots': { body: '.\r\n..\r\n...\r\n.x\r\n' },
};

describe('hostile mail', () => {
  let stack: Stack;
  let tenant: Tenant;

  beforeAll(async () => {
    stack = await startStack({ maxMessageBytes: MAX_BYTES });
    tenant = await createTenant(stack, 'tenantone');
  }, 60_000);
  afterEach(async () => {
    expect(stack.failures.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    await stack.close();
  });

  const send = (raw: string | Buffer) =>
    sendMail(stack.smtpPort, { to: [tenant.open.address], raw });
  const rawOf = (subject: string, { header, body }: Mail): Buffer =>
    Buffer.concat([
      Buffer.from(
        `From: a@elsewhere.example\r\nTo: b@dak.example\r\nSubject: ${subject}\r\n${header === undefined ? '' : `${header}\r\n`}\r\n`,
      ),
      Buffer.from(body),
    ]);

  it.each(Object.entries(HOSTILE))(
    'is kept and can be read: %s',
    async (name, mail) => {
      const subject = `hostile ${Object.keys(HOSTILE).indexOf(name)} end`;
      const raw = rawOf(subject, mail);
      const began = Date.now();
      expect(await send(raw)).toMatch(/^250 /);
      const { id, message } = await stored(subject);
      expect(Date.now() - began).toBeLessThan(10_000);
      const kept = await rawMail(id, message.id);
      expect(kept.subarray(-raw.length).equals(raw)).toBe(true);
      for (const { id: fileId, filename } of message.attachments.slice(0, 3)) {
        expect(filename).not.toMatch(/[/\\\0]|^\.*$/);
        const path = `/conversations/${id}/messages/${message.id}/attachments/${fileId}`;
        const link = await tenant.client.get(path);
        expect((await fetch(link.body.download_url)).status).toBe(200);
      }
      expect((await tenant.client.get(`/conversations/${id}/messages`)).status).toBe(200);
    },
    30_000,
  );

  it('is refused with 552 when it is too large, whether that was said before or not', async () => {
    const dialog = await openSession(stack.smtpPort);
    expect(await dialog.say(`MAIL FROM:<a@elsewhere.example> SIZE=${MAX_BYTES + 1}\r\n`)).toMatch(
      /^552 5\.3\.4 /,
    );
    dialog.socket.destroy();
    const raw = rawOf('too large', { body: 'x'.repeat(76).concat('\r\n').repeat(28_000) });
    expect(await send(raw)).toMatch(/^552 5\.3\.4 /);
    expect(await subjects('too large')).toEqual([]);
  });

  it.each([
    '\n.\n',
    '\n.\r\n',
    '\r\n.\n',
    '\r.\r',
    '\r.\r\n',
    '\r\n.\r',
    '\n.\r',
    '\r.\n',
    '\r\n.\r\r\n',
    '\r\n.\0\r\n',
  ])('does not end with %j, so that no second mail is smuggled in', async (form) => {
    const dialog = await openSession(stack.smtpPort);
    await dialog.say('MAIL FROM:<a@elsewhere.example>\r\n');
    await dialog.say(`RCPT TO:<${tenant.open.address}>\r\n`);
    await dialog.say('DATA\r\n');
    const tag = Buffer.from(form).toString('hex');
    const smuggled = `MAIL FROM:<evil@elsewhere.example>\r\nRCPT TO:<${tenant.open.address}>\r\nDATA\r\nSubject: smuggled\r\n\r\nevil\r\n`;
    const reply = await dialog.say(`Subject: outer ${tag}\r\n\r\nfirst${form}${smuggled}\r\n.\r\n`);
    expect(reply).toMatch(/^(250|5\d\d) .*\r\n$/);
    expect(reply.trim().split('\n')).toHaveLength(1);
    expect(await dialog.say('NOOP\r\n')).toMatch(/^250 /);
    dialog.socket.destroy();
    if (reply.startsWith('250')) {
      const { id, message } = await stored(`outer ${tag}`);
      expect((await rawMail(id, message.id)).toString()).toContain('evil@elsewhere.example');
    }
    expect(await subjects('smuggled')).toEqual([]);
  });

  it('is taken in one pipelined burst, each with its own reply', async () => {
    const dialog = await openSession(stack.smtpPort);
    const count = 20;
    let burst = '';
    for (let i = 0; i < count; i += 1) {
      burst += `MAIL FROM:<a@elsewhere.example>\r\nRCPT TO:<${tenant.open.address}>\r\nDATA\r\n`;
      burst += onTheWire(rawOf(`burst ${i} end`, { body: `mail ${i}\r\n` })).toString();
    }
    dialog.socket.write(`${burst}QUIT\r\n`);
    const text = await dialog.until(/^221 /m);
    dialog.socket.destroy();
    expect(text.match(/^250 /gm)).toHaveLength(3 * count);
    for (let i = 0; i < count; i += 1) {
      const { message } = await stored(`burst ${i} end`);
      expect(message.body_text.trim()).toBe(`mail ${i}`);
    }
  });

  it('to nobody, from nonsense and in nonsense commands is refused, and the session goes on', async () => {
    const dialog = await openSession(stack.smtpPort);
    const lines = [
      'MAIL FROM:<a\0@b.example>',
      'RCPT TO:<x@y.example>',
      'DATA',
      `NONSENSE ${'x'.repeat(400)}`,
      'MAIL FROM:a@b.example FOO=BAR',
      '\u00ff\u00fe',
    ];
    for (const line of lines) {
      expect([line, await dialog.say(`${line}\r\n`)]).toEqual([
        line,
        expect.stringMatching(/^5\d\d /),
      ]);
    }
    const nobody = { to: ['nobody@dak.example'], raw: 'Subject: a\r\n\r\nb\r\n' };
    expect(await transact(dialog, nobody)).toMatch(/^550 5\.1\.1 /);
    const somebody = { to: [tenant.open.address], raw: rawOf('after nonsense', { body: 'b\r\n' }) };
    expect(await transact(dialog, somebody)).toMatch(/^250 /);
    dialog.socket.destroy();
    await stored('after nonsense');
  });

  async function subjects(text: string): Promise<string[]> {
    const path = `/conversations?mailbox=${tenant.open.id}&status=all&disposition=all&per_page=100`;
    const { body } = await tenant.client.get(path);
    return (body.data as { id: string; subject: string }[])
      .filter(({ subject }) => subject === text)
      .map(({ id }) => id);
  }

  function stored(subject: string) {
    return eventually(
      `the mail ${subject}`,
      async () => {
        const [id] = await subjects(subject);
        if (id === undefined) return null;
        const { body } = await tenant.client.get(`/conversations/${id}/messages`);
        const path = `/conversations/${id}/messages/${body.data[0].id}?include=headers&raw_html=true`;
        return { id, message: (await tenant.client.get(path)).body };
      },
      15_000,
    );
  }

  async function rawMail(conversationId: string, messageId: string): Promise<Buffer> {
    const response = await fetch(
      `${stack.siteUrl}/api/v1/conversations/${conversationId}/messages/${messageId}/raw`,
      { headers: { Authorization: `Bearer ${tenant.key}` } },
    );
    expect(response.status).toBe(200);
    return Buffer.from(await response.arrayBuffer());
  }
});
