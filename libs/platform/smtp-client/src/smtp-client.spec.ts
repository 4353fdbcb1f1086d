import { InvalidError } from '@dak/kernel';
import {
  delay,
  drop,
  reply,
  replyAndClose,
  silence,
  startSmtpSink,
  tryAgainIn,
  write,
  type SinkPhase,
  type SmtpSink,
  type SmtpSinkOptions,
} from '@dak/testing/smtp-sink';
import { slowPeer } from '@dak/testing/waiting';
import { sendSmtp } from './smtp-client';
import type { SmtpEndpoint } from './smtp-endpoint';
import type { SmtpPhase } from './smtp-phase';
import type { SmtpSubmission } from './smtp-transaction';

const raw = Buffer.from('Subject: Hi\r\nMessage-ID: <1@x.example>\r\n\r\nHello\r\n');
const ann = 'ann@y.example';
const bob = 'bob@y.example';

let sink: SmtpSink;
let phases: SmtpPhase[];

beforeEach(() => {
  phases = [];
});
afterEach(() => sink.stop());

async function start(options: SmtpSinkOptions = {}): Promise<void> {
  sink = await startSmtpSink(options);
}

function send(endpoint: Partial<SmtpEndpoint> = {}, submission: Partial<SmtpSubmission> = {}) {
  return sendSmtp(
    {
      protocol: 'smtp',
      host: sink.host,
      port: sink.port,
      tls: 'none',
      localName: 'client.example',
      ...endpoint,
    },
    { mailFrom: 'me@x.example', recipients: [ann], raw, ...submission },
    (phase) => {
      phases.push(phase);
    },
  );
}

const shortTimeouts = {
  timeouts: {
    greeting: 60,
    ehlo: 60,
    mail: 60,
    rcpt: 60,
    data: 60,
    body: 60,
    finalDot: 60,
    quit: 60,
  },
};

describe('the SMTP client', () => {
  it('delivers and goes through the phases in order', async () => {
    await start();
    expect(await send()).toEqual([
      {
        recipient: ann,
        outcome: 'accepted',
        phase: 'final_dot',
        reply: { code: 250, enhanced: '2.0.0', text: expect.stringMatching(/^Ok: queued as /) },
      },
    ]);
    expect(phases).toEqual([
      'connect',
      'greeting',
      'ehlo',
      'mail',
      'rcpt',
      'data',
      'body',
      'final_dot',
      'accepted',
    ]);
    expect(sink.messages).toMatchObject([
      { mailFrom: 'me@x.example', recipients: [ann], mailParameters: `SIZE=${raw.length}` },
    ]);
    expect(sink.messages[0]?.raw).toEqual(raw);
    expect(sink.events.at(-1)?.phase).toBe('quit');
  });

  it('waits with the final dot until the caller has stored that it will be written', async () => {
    await start();
    let stored = false;
    const results = await sendSmtp(
      { protocol: 'smtp', host: sink.host, port: sink.port, tls: 'none', localName: 'c.example' },
      { mailFrom: '', recipients: [ann], raw },
      async (phase) => {
        if (phase !== 'final_dot') return;
        await slowPeer(40);
        stored = sink.messages.length === 0;
      },
    );
    expect(stored).toBe(true);
    expect(results[0]?.outcome).toBe('accepted');
  });

  it('does not write the final dot when the caller could not store it', async () => {
    await start();
    const failure = new Error('disk full');
    const sending = sendSmtp(
      { protocol: 'smtp', host: sink.host, port: sink.port, tls: 'none', localName: 'c.example' },
      { mailFrom: '', recipients: [ann], raw },
      (phase) => (phase === 'final_dot' ? Promise.reject(failure) : undefined),
    );
    await expect(sending).rejects.toBe(failure);
    // A dot that was under way would have arrived before this mail.
    expect(await send()).toMatchObject([{ outcome: 'accepted' }]);
    expect(sink.messages).toHaveLength(1);
  });

  describe.each([true, false])('with pipelining %p', (pipelining) => {
    it.each<[SinkPhase, SmtpPhase]>([
      ['ehlo', 'ehlo'],
      ['mail', 'mail'],
      ['rcpt', 'rcpt'],
      ['data', 'data'],
    ])('defers when the connection dies at %s', async (at, phase) => {
      await start({ extensions: { pipelining } });
      sink.onNext(at, drop());
      const [result] = await send();
      expect(result).toMatchObject({ outcome: 'deferred', phase });
      expect(result?.reply).toBeUndefined();
      expect(phases).not.toContain('final_dot');
      expect(sink.messages).toHaveLength(0);
    });

    it('is in doubt when the connection dies after the final dot', async () => {
      await start({ extensions: { pipelining } });
      sink.onNext('final_dot', drop());
      expect(await send()).toMatchObject([{ outcome: 'ambiguous', phase: 'final_dot' }]);
      expect(sink.messages).toMatchObject([{ acknowledged: false }]);
    });

    it('counts the reply when the connection dies right after it', async () => {
      await start({ extensions: { pipelining } });
      sink.onNext('replied', drop());
      expect(await send()).toMatchObject([{ outcome: 'accepted' }]);
    });

    it('tells the recipients apart', async () => {
      await start({
        extensions: { pipelining },
        script: ({ phase, recipient }) =>
          phase === 'rcpt' && recipient === bob ? reply(550, '5.1.1 No such user') : undefined,
      });
      const recipients = [ann, bob, 'carl@y.example'];
      const results = await send({}, { recipients });
      expect(results.map(({ recipient, outcome }) => [recipient, outcome])).toEqual([
        [ann, 'accepted'],
        [bob, 'rejected'],
        ['carl@y.example', 'accepted'],
      ]);
      expect(results[1]).toMatchObject({ phase: 'rcpt', reply: { code: 550, enhanced: '5.1.1' } });
      expect(sink.messages[0]?.recipients).toEqual([ann, 'carl@y.example']);
    });

    it('sends no content when MAIL is refused', async () => {
      await start({ extensions: { pipelining } });
      sink.onNext('mail', tryAgainIn(120));
      expect(await send({}, { recipients: [ann, bob] })).toMatchObject([
        { recipient: ann, outcome: 'deferred', phase: 'mail', retryAfterSeconds: 120 },
        { recipient: bob, outcome: 'deferred', phase: 'mail', retryAfterSeconds: 120 },
      ]);
      expect(sink.events.map(({ phase }) => phase)).not.toContain('data');
    });
  });

  it('is in doubt when the server stays silent after the final dot', async () => {
    await start();
    sink.onNext('final_dot', silence());
    expect(await send(shortTimeouts)).toMatchObject([
      { outcome: 'ambiguous', reason: 'No reply after 60 ms' },
    ]);
  });

  it('is in doubt when the answer to the final dot is no SMTP', async () => {
    await start();
    sink.onNext('final_dot', write('<html>\r\n'));
    expect(await send()).toMatchObject([{ outcome: 'ambiguous' }]);
  });

  it.each<[SinkPhase, SmtpPhase]>([
    ['connect', 'greeting'],
    ['ehlo', 'ehlo'],
    ['mail', 'mail'],
    ['rcpt', 'rcpt'],
    ['data', 'data'],
  ])('defers when the server stays silent at %s', async (at, phase) => {
    await start();
    sink.onNext(at, silence());
    expect(await send(shortTimeouts)).toMatchObject([{ outcome: 'deferred', phase }]);
  });

  it('defers when nobody listens', async () => {
    await start();
    await sink.stop();
    expect(await send()).toMatchObject([{ outcome: 'deferred', phase: 'connect' }]);
    expect(phases).toEqual(['connect']);
  });

  it.each([
    [reply(451, '4.3.0 Later'), 'deferred'],
    [reply(554, '5.7.1 Spam'), 'rejected'],
    [replyAndClose(421, '4.3.2 Stopping'), 'deferred'],
  ])('takes %o after the final dot as %s', async (action, outcome) => {
    await start();
    sink.onNext('final_dot', action);
    expect(await send()).toMatchObject([{ outcome, phase: 'final_dot' }]);
    expect(phases).not.toContain('accepted');
  });

  it('defers when the connection dies before the greeting', async () => {
    await start();
    sink.onNext('connect', drop());
    const [result] = await send();
    expect(result?.outcome).toBe('deferred');
    // The reset may overtake the end of the connect.
    expect(['connect', 'greeting']).toContain(result?.phase);
  });

  it('defers when the connection dies in the middle of the content', async () => {
    await start({
      script: ({ phase, bytes }) => (phase === 'body' && bytes > 100_000 ? drop() : undefined),
    });
    const large = Buffer.alloc(8 * 1024 * 1024, 'line of text\r\n');
    expect(await send({}, { raw: large })).toMatchObject([{ outcome: 'deferred', phase: 'body' }]);
    expect(phases).not.toContain('final_dot');
  });

  it('defers when the server closes while the caller stores that the dot will be written', async () => {
    await start();
    const results = await sendSmtp(
      { protocol: 'smtp', host: sink.host, port: sink.port, tls: 'none', localName: 'c.example' },
      { mailFrom: '', recipients: [ann], raw },
      async (phase) => {
        if (phase !== 'final_dot') return;
        sink.dropConnections();
        await slowPeer(30);
      },
    );
    expect(results).toMatchObject([{ outcome: 'deferred', phase: 'final_dot' }]);
  });

  it('reads a refusal in the middle of the content and sends no dot', async () => {
    await start({
      script: ({ phase }) => (phase === 'body' ? reply(552, '5.3.4 Too big') : undefined),
    });
    const large = Buffer.alloc(8 * 1024 * 1024, 'line of text\r\n');
    const [result] = await send({}, { raw: large });
    expect(result).toMatchObject({ outcome: 'rejected', reply: { code: 552 } });
    expect(phases).not.toContain('accepted');
    expect(sink.messages).toHaveLength(0);
  });

  it('sends several megabytes unharmed', async () => {
    await start();
    const large = Buffer.alloc(5 * 1024 * 1024, '.line\nnext \u00e9\r\n');
    await send({}, { raw: large });
    const sent = large.toString('latin1').replace(/\r?\n|\r(?!\n)/g, '\r\n');
    expect(sink.messages[0]?.raw.toString('latin1')).toBe(
      sent.endsWith('\r\n') ? sent : `${sent}\r\n`,
    );
    expect(sink.messages[0]?.mailParameters).toContain('BODY=8BITMIME');
  });

  it('pipelines a hundred and fifty recipients', async () => {
    await start();
    const recipients = Array.from({ length: 150 }, (_, index) => `r${index}@y.example`);
    const results = await send({}, { recipients });
    expect(results.every(({ outcome }) => outcome === 'accepted')).toBe(true);
    expect(sink.messages[0]?.recipients).toEqual(recipients);
  });

  it('falls back to HELO', async () => {
    await start({ extensions: { ehlo: false } });
    expect(await send()).toMatchObject([{ outcome: 'accepted' }]);
    expect(sink.messages[0]).toMatchObject({ mailParameters: '', helo: 'client.example' });
  });

  it('does not send what is larger than the server takes', async () => {
    await start({ extensions: { size: 10 } });
    expect(await send()).toMatchObject([
      { outcome: 'rejected', reply: { code: 552, enhanced: '5.3.4' } },
    ]);
    expect(sink.events.map(({ phase }) => phase)).not.toContain('mail');
  });

  it('uses SMTPUTF8 where offered', async () => {
    await start();
    await send({}, { recipients: ['j\u00f6rg@b\u00fccher.example'] });
    expect(sink.messages[0]?.mailParameters).toContain('SMTPUTF8');
    expect(sink.messages[0]?.recipients).toEqual(['j\u00f6rg@b\u00fccher.example']);
  });

  it('sends the domain as A-labels where SMTPUTF8 is not offered, and refuses the local part', async () => {
    await start({ extensions: { smtpUtf8: false } });
    const results = await send(
      {},
      { recipients: ['joe@b\u00fccher.example', 'j\u00f6rg@b\u00fccher.example'] },
    );
    expect(results.map(({ outcome }) => outcome)).toEqual(['accepted', 'rejected']);
    expect(results[1]?.reply).toMatchObject({ code: 553, enhanced: '5.6.7' });
    expect(sink.messages[0]?.recipients).toEqual(['joe@xn--bcher-kva.example']);
  });

  it.each([
    ['a line break in a recipient', { recipients: ['a@y.example>\r\nRCPT TO:<b@y.example'] }],
    ['a NUL in the sender', { mailFrom: 'a\u0000@x.example' }],
    ['a parameter in a recipient', { recipients: ['a@y.example> NOTIFY=NEVER'] }],
    ['no recipient', { recipients: [] }],
  ])('refuses %s before it connects', async (_, submission) => {
    await start();
    await expect(send({}, submission)).rejects.toBeInstanceOf(InvalidError);
    expect(phases).toEqual([]);
  });

  it('refuses a line break in our name and NUL in credentials', async () => {
    await start({ extensions: { auth: ['PLAIN'] } });
    await expect(send({ localName: 'a\r\nQUIT' })).rejects.toBeInstanceOf(InvalidError);
    await expect(
      send({ credentials: { user: 'u\u0000v', password: 'p' }, allowPlaintextAuth: true }),
    ).rejects.toBeInstanceOf(InvalidError);
  });

  it('gets one reply per recipient from LMTP', async () => {
    await start({
      protocol: 'lmtp',
      script: ({ phase, recipient }) => {
        if (phase === 'rcpt' && recipient === 'no@y.example') return reply(550, '5.1.1 No');
        if (phase === 'final_dot' && recipient === bob) return reply(452, '4.2.2 Full');
        return undefined;
      },
    });
    const results = await send({ protocol: 'lmtp' }, { recipients: [ann, 'no@y.example', bob] });
    expect(results.map(({ outcome }) => outcome)).toEqual(['accepted', 'rejected', 'deferred']);
  });

  it('is in doubt only about the LMTP recipients without a reply', async () => {
    await start({
      protocol: 'lmtp',
      script: ({ phase, recipient }) =>
        phase === 'final_dot' && recipient === bob ? drop() : undefined,
    });
    const results = await send({ protocol: 'lmtp' }, { recipients: [ann, bob] });
    expect(results.map(({ outcome }) => outcome)).toEqual(['accepted', 'ambiguous']);
  });

  it('waits for a slow server', async () => {
    await start({ script: ({ phase }) => (phase === 'final_dot' ? delay(50) : undefined) });
    expect(await send()).toMatchObject([{ outcome: 'accepted' }]);
  });
});

describe('the SMTP client and TLS', () => {
  const startTls = { extensions: { startTls: true } };

  it('takes STARTTLS when offered, without checking the certificate', async () => {
    await start(startTls);
    expect(await send({ tls: 'opportunistic' })).toMatchObject([{ outcome: 'accepted' }]);
    expect(sink.messages[0]?.tls).toBe(true);
    expect(phases.slice(0, 5)).toEqual(['connect', 'greeting', 'ehlo', 'tls', 'mail']);
  });

  it('goes on in the clear when opportunistic TLS fails', async () => {
    await start(startTls);
    sink.onNext('starttls', write('220 Go ahead\r\n220 injected\r\n'));
    expect(await send({ tls: 'opportunistic' })).toMatchObject([{ outcome: 'accepted' }]);
    expect(sink.messages[0]?.tls).toBe(false);
  });

  it('does not go on after plaintext behind the reply to STARTTLS', async () => {
    await start(startTls);
    sink.onNext('starttls', write('220 Go ahead\r\n250-injected\r\n'));
    expect(await send({ tls: 'required' })).toMatchObject([{ outcome: 'deferred', phase: 'tls' }]);
    expect(sink.messages).toHaveLength(0);
  });

  it('requires TLS where told to', async () => {
    await start();
    expect(await send({ tls: 'required' })).toMatchObject([{ outcome: 'deferred', phase: 'tls' }]);
  });

  it('checks the certificate where TLS is required', async () => {
    await start(startTls);
    expect(await send({ tls: 'required' })).toMatchObject([{ outcome: 'deferred', phase: 'tls' }]);
    const trusting = { tls: 'required', ca: sink.certificate.cert } as const;
    expect(await send(trusting)).toMatchObject([{ outcome: 'accepted' }]);
    expect(await send({ ...trusting, serverName: 'localhost' })).toMatchObject([
      { outcome: 'accepted' },
    ]);
    expect(await send({ ...trusting, serverName: 'other.example' })).toMatchObject([
      { outcome: 'deferred', phase: 'tls' },
    ]);
  });

  it('speaks implicit TLS', async () => {
    await start({ implicitTls: true });
    expect(await send({ tls: 'implicit', verifyCertificate: false })).toMatchObject([
      { outcome: 'accepted' },
    ]);
    expect(await send({ tls: 'implicit' })).toMatchObject([{ outcome: 'deferred', phase: 'tls' }]);
  });

  it('gives up a handshake that does not end', async () => {
    await start(startTls);
    sink.onNext('starttls', reply(220, 'Go ahead'));
    expect(await send({ tls: 'required', timeouts: { tls: 60 } })).toMatchObject([
      { outcome: 'deferred', phase: 'tls' },
    ]);
  });
});

describe('the SMTP client and AUTH', () => {
  const password = { user: 'u\u00fcser', password: 's' };
  const credentials = { user: 'u\u00fcser', secret: 's' };

  it.each(['PLAIN', 'LOGIN'] as const)('authenticates with %s', async (mechanism) => {
    await start({ extensions: { auth: [mechanism] }, credentials });
    expect(await send({ credentials: password, allowPlaintextAuth: true })).toMatchObject([
      { outcome: 'accepted' },
    ]);
    expect(sink.messages[0]?.user).toBe('u\u00fcser');
    expect(phases).toContain('auth');
  });

  it('authenticates with an access token', async () => {
    await start({ extensions: { auth: ['PLAIN', 'XOAUTH2'] }, credentials });
    const token = (accessToken: string) =>
      send({ credentials: { user: 'u\u00fcser', accessToken }, allowPlaintextAuth: true });
    expect(await token('s')).toMatchObject([{ outcome: 'accepted' }]);
    expect(await token('x')).toMatchObject([
      { outcome: 'deferred', phase: 'auth', reply: { code: 535 } },
    ]);
  });

  it('does not send credentials without TLS unless told to', async () => {
    await start({ extensions: { auth: ['PLAIN'] }, credentials });
    expect(await send({ credentials: password })).toMatchObject([
      { outcome: 'deferred', phase: 'auth', reason: 'Credentials are not sent without TLS' },
    ]);
    expect(sink.events.map(({ phase }) => phase)).not.toContain('auth');
  });

  it('sends them inside TLS to a server that proves its name, and to no other', async () => {
    await start({ extensions: { auth: ['PLAIN'], startTls: true }, credentials });
    const ca = sink.certificate.cert;
    for (const tls of ['opportunistic', 'required'] as const) {
      for (const stranger of [{}, { ca, serverName: 'other.example' }]) {
        const to = { credentials: password, allowPlaintextAuth: true, tls, ...stranger };
        expect(await send(to)).toMatchObject([{ outcome: 'deferred', phase: 'tls' }]);
      }
      expect(sink.events.map(({ phase }) => phase)).not.toContain('auth');
    }
    for (const tls of ['opportunistic', 'required'] as const) {
      expect(await send({ credentials: password, tls, ca })).toMatchObject([
        { outcome: 'accepted' },
      ]);
    }
    expect(sink.messages.map((message) => message.tls)).toEqual([true, true]);
  });

  it('keeps mail when the password is wrong: that is our fault, not the recipient', async () => {
    await start({ extensions: { auth: ['PLAIN'] }, credentials });
    const wrong = { user: 'u', password: 'x' };
    expect(await send({ credentials: wrong, allowPlaintextAuth: true })).toMatchObject([
      { outcome: 'deferred', phase: 'auth', reply: { code: 535 } },
    ]);
  });
});
