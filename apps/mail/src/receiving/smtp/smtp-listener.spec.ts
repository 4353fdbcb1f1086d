import { once } from 'node:events';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { createSelfSignedCertificate } from '@dak/platform/tls-files';
import { openSmtpDialog, type SmtpDialog } from '@dak/testing/smtp-sink';
import { eventually, slowPeer } from '@dak/testing/waiting';
import type { RecipientVerdict } from '../../mailboxes/addresses/recipient-verdict';
import type { AcceptOutcome, SmtpDelivery } from './smtp-delivery';
import { createSmtpListener, type SmtpListener } from './smtp-listener';
import type { SmtpListenerOptions } from './smtp-listener-options';

const target = { organizationId: 'org', mailboxId: 'box' };
const verdicts: Record<string, RecipientVerdict> = {
  'ann@y.example': { kind: 'deliver', target },
  'bob@y.example': { kind: 'deliver', target },
  'full@y.example': { kind: 'over_quota' },
  'off@y.example': { kind: 'disabled' },
  'late@y.example': { kind: 'suspended' },
};

let listener: SmtpListener;
let dialog: SmtpDialog;
let deliveries: SmtpDelivery[];
let accept: (delivery: SmtpDelivery) => Promise<AcceptOutcome[]>;

beforeEach(() => {
  deliveries = [];
  accept = async ({ recipients }) => recipients.map(() => ({ kind: 'accepted' }));
});
afterEach(async () => {
  dialog.socket.destroy();
  await listener.stop();
});

async function start(options: Partial<SmtpListenerOptions> = {}): Promise<void> {
  listener = await createSmtpListener({
    protocol: 'smtp',
    host: '127.0.0.1',
    port: 0,
    hostName: 'mx.dak.example',
    handlers: {
      resolveRecipient: async (address) => verdicts[address] ?? { kind: 'unknown' },
      accept: (delivery) => {
        deliveries.push(delivery);
        return accept(delivery);
      },
    },
    log: { warn: () => undefined, error: () => undefined },
    ...options,
  });
  dialog = openSmtpDialog(listener.port);
}

/** Greeting, EHLO, MAIL and one RCPT. */
async function begin(recipient = 'ann@y.example'): Promise<void> {
  await dialog.replies(1);
  await dialog.say('EHLO client.example\r\n');
  await dialog.say('MAIL FROM:<me@x.example>\r\n');
  expect(await dialog.say(`RCPT TO:<${recipient}>\r\n`)).toMatch(/^250 2\.1\.5 /);
}

async function deliver(content: string | Buffer): Promise<string> {
  expect(await dialog.say('DATA\r\n')).toMatch(/^354 /);
  dialog.socket.write(content);
  return dialog.say('.\r\n');
}

const contentOf = (delivery: SmtpDelivery | undefined) =>
  delivery?.raw.toString('latin1').replace(/^Received: (?:[^\r]|\r\n\t)*\r\n/, '');

describe('the SMTP listener', () => {
  it('takes a message and hands it over with its envelope and trace field', async () => {
    await start();
    await begin();
    const answer = await deliver('Subject: Hi\r\n\r\n..dot\r\nbye\r\n');
    const [delivery] = deliveries;
    expect(answer).toBe(`250 2.6.0 Ok: queued as ${delivery?.queueId}\r\n`);
    expect(delivery).toMatchObject({
      mailFrom: 'me@x.example',
      recipients: [{ address: 'ann@y.example', target }],
      clientAddress: '127.0.0.1',
      helo: 'client.example',
      protocol: 'ESMTP',
      tls: null,
    });
    expect(delivery?.raw.toString()).toMatch(
      /^Received: from client\.example \(\[127\.0\.0\.1\]\)\r\n\tby mx\.dak\.example with ESMTP id [0-9a-f-]{36}\r\n\tfor <ann@y\.example>; /,
    );
    expect(contentOf(delivery)).toBe('Subject: Hi\r\n\r\n.dot\r\nbye\r\n');
    expect(listener.inFlightBytes).toBe(0);
  });

  it('offers what it can and no AUTH', async () => {
    await start();
    expect(await dialog.replies(1)).toBe('220 mx.dak.example ESMTP Dak\r\n');
    const offer = await dialog.say('EHLO client.example\r\n');
    expect(offer.split('\r\n').slice(0, -1)).toEqual([
      '250-mx.dak.example',
      '250-PIPELINING',
      '250-8BITMIME',
      '250-SMTPUTF8',
      '250-ENHANCEDSTATUSCODES',
      '250 SIZE 36700160',
    ]);
    expect(await dialog.say('AUTH PLAIN AHUAcA==\r\n')).toMatch(/^50\d /);
  });

  it.each([
    ['nobody@y.example', /^550 5\.1\.1 /],
    ['off@y.example', /^550 5\.2\.1 /],
    ['late@y.example', /^450 4\.7\.1 /],
    ['full@y.example', /^452 4\.2\.2 /],
  ])('refuses %s at RCPT', async (recipient, expected) => {
    await start();
    await dialog.replies(1);
    await dialog.say('EHLO c\r\nMAIL FROM:<me@x.example>\r\n', 2);
    expect(await dialog.say(`RCPT TO:<${recipient}>\r\n`)).toMatch(expected);
    expect(await dialog.say('DATA\r\n')).toMatch(/^503 /);
  });

  it('does not say who exists when asked by VRFY or EXPN', async () => {
    await start();
    await dialog.replies(1);
    await dialog.say('EHLO c\r\n');
    const known = await dialog.say('VRFY ann@y.example\r\n');
    expect(known).toMatch(/^252 /);
    expect(await dialog.say('VRFY nobody@y.example\r\n')).toBe(known);
    const list = await dialog.say('EXPN ann@y.example\r\n');
    expect(list).toMatch(/^50\d /);
    expect(await dialog.say('EXPN nobody@y.example\r\n')).toBe(list);
  });

  it('takes the null reverse path', async () => {
    await start();
    await dialog.replies(1);
    await dialog.say('EHLO c\r\nMAIL FROM:<>\r\nRCPT TO:<ann@y.example>\r\n', 3);
    expect(await deliver('x\r\n')).toMatch(/^250 /);
    expect(deliveries[0]?.mailFrom).toBe('');
  });

  it('takes 8-bit content and internationalized addresses', async () => {
    const address = 'j\u00f6rg@y.example';
    await start();
    verdicts[address] = { kind: 'deliver', target };
    await dialog.replies(1);
    await dialog.say('EHLO c\r\nMAIL FROM:<\u00e9@x.example> BODY=8BITMIME SMTPUTF8\r\n', 2);
    await dialog.say(`RCPT TO:<${address}>\r\n`);
    const content = Buffer.from('Subject: \u00e9\r\n\r\n\xff\r\n', 'latin1');
    expect(await deliver(content)).toMatch(/^250 /);
    expect(deliveries[0]).toMatchObject({
      protocol: 'UTF8SMTP',
      mailFrom: '\u00e9@x.example',
      recipients: [{ address }],
    });
    expect(deliveries[0]?.raw.includes(content)).toBe(true);
  });

  it('takes several messages on one connection, and HELO', async () => {
    await start();
    await dialog.replies(1);
    await dialog.say('HELO old.example\r\n');
    for (let count = 0; count < 3; count += 1) {
      await dialog.say('MAIL FROM:<me@x.example>\r\nRCPT TO:<ann@y.example>\r\n', 2);
      expect(await deliver(`message ${count}\r\n`)).toMatch(/^250 /);
    }
    expect(deliveries.map(contentOf)).toEqual(['message 0\r\n', 'message 1\r\n', 'message 2\r\n']);
    expect(deliveries[0]).toMatchObject({ protocol: 'SMTP', helo: 'old.example' });
    expect(new Set(deliveries.map(({ queueId }) => queueId)).size).toBe(3);
  });

  it('keeps the recipients of transactions apart', async () => {
    await start();
    await begin();
    await dialog.say('RSET\r\nMAIL FROM:<me@x.example>\r\nRCPT TO:<bob@y.example>\r\n', 3);
    await dialog.say('RCPT TO:<BOB@y.example>\r\n');
    await deliver('x\r\n');
    expect(deliveries[0]?.recipients.map(({ address }) => address)).toEqual(['bob@y.example']);
  });

  it('answers pipelined transactions in order', async () => {
    await start();
    await dialog.replies(1);
    const transaction = 'MAIL FROM:<me@x.example>\r\nRCPT TO:<ann@y.example>\r\nDATA\r\nx\r\n.\r\n';
    const answers = await dialog.say(`EHLO c\r\n${transaction.repeat(3)}QUIT\r\n`, 14);
    expect(answers.match(/^\d{3} /gm)?.join('')).toBe(`250 ${'250 250 354 250 '.repeat(3)}221 `);
    expect(deliveries).toHaveLength(3);
  });

  it('greets a client on the loopback without delay', async () => {
    await start();
    await dialog.replies(1);
    const waits: number[] = [];
    for (let count = 0; count < 5; count += 1) {
      const before = performance.now();
      dialog = openSmtpDialog(listener.port);
      await dialog.replies(1);
      waits.push(performance.now() - before);
      dialog.socket.destroy();
    }
    // The wait would be at least 100 ms each time; a busy machine may delay one of them.
    expect(Math.min(...waits)).toBeLessThan(90);
  });

  it('exposes early talkers elsewhere', async () => {
    await start({ greetsAtOnce: () => false });
    dialog.socket.write('EHLO spam.example\r\n');
    expect(await dialog.end()).toMatch(/^421 .*talk too soon/);
  });

  it('waits for the message to be durable before 250', async () => {
    let finish: () => void = () => undefined;
    let isAsked = false;
    await start();
    accept = () =>
      new Promise((resolve) => {
        isAsked = true;
        finish = () => resolve([{ kind: 'accepted' }]);
      });
    await begin();
    await dialog.say('DATA\r\n');
    dialog.socket.write('x\r\n.\r\n');
    await eventually(() => isAsked);
    const later = openSmtpDialog(listener.port);
    await later.replies(1);
    later.socket.destroy();
    expect(dialog.text).toBe('');
    expect(listener.inFlightBytes).toBe(3);
    finish();
    expect(await dialog.replies(1)).toMatch(/^250 /);
  });

  it.each<[string, () => Promise<AcceptOutcome[]>, RegExp]>([
    ['is not durable', () => Promise.reject(new Error('no database')), /^451 4\.3\.0 /],
    ['is deferred', async () => [{ kind: 'deferred', text: 'Wait' }], /^451 4\.3\.0 Wait/],
    ['is refused', async () => [{ kind: 'rejected', text: 'No' }], /^554 5\.7\.1 No/],
    ['does not fit', async () => [{ kind: 'over_quota' }], /^452 4\.2\.2 /],
  ])('says so when a message %s', async (_, outcome, expected) => {
    await start();
    accept = outcome;
    await begin();
    expect(await deliver('x\r\n')).toMatch(expected);
    expect(await dialog.say('NOOP\r\n')).toMatch(/^250 /);
  });

  it('answers 451 when a recipient cannot be looked up', async () => {
    await start({
      handlers: {
        resolveRecipient: () => Promise.reject(new Error('no database')),
        accept: async () => [],
      },
    });
    await dialog.replies(1);
    await dialog.say('EHLO c\r\nMAIL FROM:<>\r\n', 2);
    expect(await dialog.say('RCPT TO:<ann@y.example>\r\n')).toMatch(/^451 4\.3\.0 /);
  });

  it('frees the room of a message that is on the disk, though its outcome is open', async () => {
    let conclude: (outcomes: AcceptOutcome[]) => void = () => undefined;
    const taken: number[] = [];
    await start({
      handlers: {
        resolveRecipient: async () => ({ kind: 'deliver', target }),
        accept: (_, onPlaced) => {
          taken.push(listener.inFlightBytes);
          onPlaced();
          taken.push(listener.inFlightBytes);
          return new Promise((resolve) => (conclude = resolve));
        },
      },
    });
    await begin();
    const answered = deliver(`${'x'.repeat(5000)}\r\n`);
    await eventually(() => taken.length === 2);
    conclude([{ kind: 'accepted' }]);
    expect(await answered).toMatch(/^250 /);
    expect(taken[0]).toBeGreaterThan(4000);
    expect(taken[1]).toBe(0);
    expect(listener.inFlightBytes).toBe(0);
  });

  it('drops a message whose sender goes away, and frees its room', async () => {
    await start();
    await begin();
    await dialog.say('DATA\r\n');
    dialog.socket.write('x'.repeat(5000));
    await eventually(() => listener.inFlightBytes > 4000);
    dialog.socket.destroy();
    await eventually(() => listener.inFlightBytes === 0 && listener.sessions === 0);
    expect(deliveries).toHaveLength(0);
  });
});

describe('limits of the SMTP listener', () => {
  it('refuses a message declared too large at MAIL', async () => {
    await start({ limits: { maxMessageBytes: 1000 } });
    await dialog.replies(1);
    await dialog.say('EHLO c\r\n');
    expect(await dialog.say('MAIL FROM:<> SIZE=1001\r\n')).toMatch(/^552 5\.3\.4 /);
    expect(await dialog.say('MAIL FROM:<> SIZE=1000\r\n')).toMatch(/^250 /);
  });

  it('refuses a message that turns out too large, and goes on', async () => {
    await start({ limits: { maxMessageBytes: 1000 } });
    await begin();
    expect(await deliver(`${'x'.repeat(1200)}\r\n`)).toMatch(/^552 5\.3\.4 /);
    await dialog.say('MAIL FROM:<>\r\nRCPT TO:<ann@y.example>\r\n', 2);
    expect(await deliver('small\r\n')).toMatch(/^250 /);
    expect(deliveries).toHaveLength(1);
  });

  it('does not read a message without end', async () => {
    await start({ limits: { maxMessageBytes: 1000 } });
    await begin();
    await dialog.say('DATA\r\n');
    dialog.socket.write('x'.repeat(10_000));
    expect(await dialog.end()).toMatch(/^421 5\.3\.4 /);
  });

  it('refuses more recipients than allowed for now', async () => {
    await start({ limits: { maxRecipients: 1 } });
    await begin();
    expect(await dialog.say('RCPT TO:<bob@y.example>\r\n')).toMatch(/^452 4\.5\.3 /);
    expect(await deliver('x\r\n')).toMatch(/^250 /);
  });

  it('refuses messages in a loop', async () => {
    await start();
    await begin();
    const hop = 'Received: from a by b; Mon, 06 Oct 2025 10:00:00 +0000\r\n';
    expect(await deliver(`${hop.repeat(31)}\r\nx\r\n`)).toMatch(/^554 5\.4\.6 /);
    await dialog.say('MAIL FROM:<>\r\nRCPT TO:<ann@y.example>\r\n', 2);
    expect(await deliver(`${hop.repeat(30)}\r\nx\r\n`)).toMatch(/^250 /);
  });

  it('refuses more sessions than allowed', async () => {
    await start({ limits: { maxSessions: 1 } });
    await dialog.replies(1);
    const second = openSmtpDialog(listener.port);
    expect(await second.end()).toMatch(/^421 /);
  });

  it('keeps memory for messages within its budget', async () => {
    let finish: () => void = () => undefined;
    await start({ limits: { maxInFlightBytes: 2000 } });
    accept = () =>
      new Promise((resolve) => {
        finish = () => resolve([{ kind: 'accepted' }]);
      });
    await begin();
    await dialog.say('DATA\r\n');
    dialog.socket.write(`${'x'.repeat(1500)}\r\n.\r\n`);
    const first = dialog;
    dialog = openSmtpDialog(listener.port);
    await dialog.replies(1);
    await dialog.say('EHLO c\r\n');
    expect(await dialog.say('MAIL FROM:<> SIZE=1000\r\n')).toMatch(/^452 4\.3\.1 /);
    await dialog.say('MAIL FROM:<>\r\nRCPT TO:<ann@y.example>\r\n', 2);
    expect(await deliver(`${'x'.repeat(1500)}\r\n`)).toMatch(/^452 4\.3\.1 /);
    finish();
    expect(await first.replies(1)).toMatch(/^250 /);
    expect(listener.inFlightBytes).toBe(0);
    first.socket.destroy();
  });

  it('asks a client to come back when it has no token left', async () => {
    const asked: string[] = [];
    const tokens = new Map([
      ['connect:127.0.0.1', 1],
      ['mail:127.0.0.1', 1],
    ]);
    await start({
      consume: async (key) => {
        asked.push(key);
        const left = tokens.get(key) ?? 0;
        tokens.set(key, left - 1);
        return left > 0;
      },
    });
    await dialog.replies(1);
    await dialog.say('EHLO c\r\n');
    expect(await dialog.say('MAIL FROM:<>\r\n')).toMatch(/^250 /);
    await dialog.say('RSET\r\n');
    expect(await dialog.say('MAIL FROM:<>\r\n')).toMatch(/^450 4\.7\.0 /);
    expect(await openSmtpDialog(listener.port).end()).toMatch(/^421 4\.7\.0 /);
    expect(asked).toEqual([
      'connect:127.0.0.1',
      'mail:127.0.0.1',
      'mail:127.0.0.1',
      'connect:127.0.0.1',
    ]);
  });

  it('counts an IPv6 site as one client, whatever address of it is taken', async () => {
    const interfaces = Object.values(networkInterfaces()).flat();
    const hasIpv6 = interfaces.some((one) => one?.address === '::1');
    const asked: string[] = [];
    const consume = async (key: string) => asked.push(key) > 0;
    await start({ host: hasIpv6 ? '::' : '127.0.0.1', consume });
    await dialog.replies(1);
    const socket = connect(listener.port, hasIpv6 ? '::1' : '127.0.0.1');
    await once(socket, 'data');
    socket.destroy();
    expect(asked).toEqual(['connect:127.0.0.1', `connect:${hasIpv6 ? '::/64' : '127.0.0.1'}`]);
  });

  it('lets clients pass when tokens cannot be counted', async () => {
    await start({ consume: () => Promise.reject(new Error('redis is down')) });
    await begin();
    expect(await deliver('x\r\n')).toMatch(/^250 /);
  });

  it('puts clients off while the process cannot keep up', async () => {
    await start({ limits: { maxLagMs: 300 } });
    await dialog.replies(1);
    await dialog.say('EHLO c\r\n');
    const until = performance.now() + 800;
    while (performance.now() < until);
    expect(await dialog.say('MAIL FROM:<>\r\n')).toMatch(/^421 4\.3\.2 /);
    expect(await openSmtpDialog(listener.port).end()).toMatch(/^421 4\.3\.2 /);
  });

  it('closes a connection that says nothing', async () => {
    await start({ limits: { idleTimeoutMs: 40 } });
    await dialog.replies(1);
    expect(await dialog.end()).toMatch(/^421 /);
  });
});

describe('the end of data', () => {
  const smuggled = 'MAIL FROM:<evil@x.example>\r\nRCPT TO:<bob@y.example>\r\nDATA\r\nEvil\r\n';
  const forms: [string, string][] = [
    ['LF.LF', '\n.\n'],
    ['LF.CRLF', '\n.\r\n'],
    ['CRLF.LF', '\r\n.\n'],
    ['CR.CR', '\r.\r'],
    ['CR.CRLF', '\r.\r\n'],
    ['CRLF.CR', '\r\n.\r'],
    ['CRLF NUL.CRLF', '\r\n\0.\r\n'],
    ['CRLF.NUL CRLF', '\r\n.\0\r\n'],
  ];

  describe.each(['whole', 'octet by octet'])('sent %s', (cut) => {
    it.each(forms)('is not %s', async (_, form) => {
      await start();
      await begin();
      await dialog.say('DATA\r\n');
      const octets = Buffer.from(`First${form}${smuggled}\r\n.\r\n`, 'latin1');
      if (cut === 'whole') dialog.socket.write(octets);
      else {
        for (const octet of octets) {
          dialog.socket.write(Buffer.from([octet]));
          await new Promise((resolve) => setImmediate(resolve));
        }
      }
      expect(await dialog.replies(1)).toMatch(/^250 /);
      expect(await dialog.say('NOOP\r\n')).toMatch(/^250 2\.0\.0 OK\r\n$/);
      expect(deliveries).toHaveLength(1);
      expect(contentOf(deliveries[0])).toContain('MAIL FROM:<evil@x.example>');
    });
  });

  it('is CRLF.CRLF even when split over packets', async () => {
    await start();
    await begin();
    await dialog.say('DATA\r\n');
    for (const part of ['First\r', '\n', '.', '\r', '\n']) {
      dialog.socket.write(part);
      await slowPeer(5);
    }
    expect(await dialog.replies(1)).toMatch(/^250 /);
    expect(contentOf(deliveries[0])).toBe('First\r\n');
  });

  it('is not a stuffed dot split over packets', async () => {
    await start();
    await begin();
    await dialog.say('DATA\r\n');
    for (const part of ['.', '.\r\nMAIL FROM:<>\r\n', '.', '\r\n']) {
      dialog.socket.write(part);
      await slowPeer(5);
    }
    expect(await dialog.replies(1)).toMatch(/^250 /);
    expect(contentOf(deliveries[0])).toBe('.\r\nMAIL FROM:<>\r\n');
  });
});

describe('the LMTP listener', () => {
  it('answers each recipient on its own, a repeated one twice', async () => {
    await start({ protocol: 'lmtp' });
    accept = async () => [{ kind: 'accepted' }, { kind: 'over_quota' }];
    expect(await dialog.replies(1)).toMatch(/^220 mx\.dak\.example LMTP/);
    expect(await dialog.say('EHLO c\r\n')).toMatch(/^500 /);
    await dialog.say('LHLO c\r\nMAIL FROM:<>\r\n', 2);
    const rcpt = (address: string) => dialog.say(`RCPT TO:<${address}>\r\n`);
    await rcpt('ann@y.example');
    expect(await rcpt('nobody@y.example')).toMatch(/^550 5\.1\.1 /);
    await rcpt('bob@y.example');
    await rcpt('ann@y.example');
    await dialog.say('DATA\r\n');
    const answers = (await dialog.say('x\r\n.\r\n', 3)).split('\r\n');
    expect(answers.slice(0, 3)).toEqual([
      expect.stringMatching(/^250 2\.6\.0 Ok: queued as /),
      expect.stringMatching(/^452 4\.2\.2 /),
      expect.stringMatching(/^250 2\.6\.0 Ok: queued as /),
    ]);
    expect(deliveries[0]).toMatchObject({ protocol: 'LMTP' });
    expect(deliveries[0]?.recipients).toHaveLength(2);
  });

  it('answers each recipient when the message is too large', async () => {
    await start({ protocol: 'lmtp', limits: { maxMessageBytes: 100 } });
    await dialog.replies(1);
    await dialog.say('LHLO c\r\nMAIL FROM:<>\r\n', 2);
    await dialog.say('RCPT TO:<ann@y.example>\r\nRCPT TO:<bob@y.example>\r\n', 2);
    await dialog.say('DATA\r\n');
    const answers = await dialog.say(`${'x'.repeat(150)}\r\n.\r\n`, 2);
    expect(answers.match(/^552 5\.3\.4 /gm)).toHaveLength(2);
  });
});

describe('STARTTLS of the listener', () => {
  it('is offered with a certificate and shows in the delivery', async () => {
    await start({ tls: createSelfSignedCertificate() });
    await dialog.replies(1);
    expect(await dialog.say('EHLO c\r\n')).toContain('250-STARTTLS');
    expect(await dialog.say('STARTTLS\r\n')).toMatch(/^220 /);
    const plain = dialog;
    dialog = plain.secure();
    expect(await dialog.say('EHLO inside.example\r\n')).not.toContain('STARTTLS');
    await dialog.say('MAIL FROM:<>\r\nRCPT TO:<ann@y.example>\r\n', 2);
    expect(await deliver('x\r\n')).toMatch(/^250 /);
    expect(deliveries[0]).toMatchObject({
      protocol: 'ESMTPS',
      helo: 'inside.example',
      tls: { version: 'TLSv1.3' },
    });
    plain.socket.destroy();
  });

  it('forgets commands sent ahead of the handshake', async () => {
    await start({ tls: createSelfSignedCertificate() });
    await dialog.replies(1);
    await dialog.say('EHLO c\r\n');
    const ahead = 'STARTTLS\r\nMAIL FROM:<evil@x.example>\r\n';
    expect(await dialog.say(ahead)).toMatch(/^220 /);
    const plain = dialog;
    dialog = plain.secure();
    await dialog.say('EHLO c\r\n');
    expect(await dialog.say('RCPT TO:<ann@y.example>\r\n')).toMatch(/^503 /);
    plain.socket.destroy();
  });
});

describe('stopping the listener', () => {
  it('finishes a running message, says goodbye to the others and frees the port', async () => {
    let finish: () => void = () => undefined;
    let isAsked = false;
    await start();
    accept = () =>
      new Promise((resolve) => {
        isAsked = true;
        finish = () => resolve([{ kind: 'accepted' }]);
      });
    const idle = openSmtpDialog(listener.port);
    await idle.replies(1);
    await begin();
    await dialog.say('DATA\r\n');
    dialog.socket.write('x\r\n.\r\n');
    await eventually(() => isAsked);
    const stopped = listener.stop();
    expect(await idle.end()).toMatch(/^421 4\.3\.2 /);
    const refused = await new Promise((resolve) => {
      connect(listener.port, '127.0.0.1').on('error', resolve);
    });
    expect(refused).toMatchObject({ code: 'ECONNREFUSED' });
    finish();
    expect(await dialog.end()).toMatch(/^250 2\.6\.0 [^\n]*\n421 4\.3\.2 /);
    await stopped;
  });

  it('does not wait for a message longer than its grace', async () => {
    await start({ limits: { stopGraceMs: 60 } });
    await begin();
    await dialog.say('DATA\r\n');
    const before = performance.now();
    await listener.stop();
    expect(performance.now() - before).toBeLessThan(1000);
    await dialog.end();
    expect(deliveries).toHaveLength(0);
  });
});
