import { UnavailableError } from '@dak/kernel';
import {
  delay,
  replyAndClose,
  reply,
  silence,
  startSmtpSink,
  type SmtpSink,
} from '@dak/testing/smtp-sink';
import { eventually } from '@dak/testing/waiting';
import type { SmtpEndpoint } from './smtp-endpoint';
import type { SmtpPhase } from './smtp-phase';
import { createSmtpPool, type SmtpPool } from './smtp-pool';

const submission = {
  mailFrom: 'me@x.example',
  recipients: ['ann@y.example'],
  raw: Buffer.from('Subject: Hi\r\n\r\nHello\r\n'),
};

let sink: SmtpSink;
let pool: SmtpPool;

beforeEach(async () => {
  sink = await startSmtpSink();
});
afterEach(async () => {
  await pool.close(0);
  await sink.stop();
});

function send(
  extra: Partial<SmtpEndpoint> = {},
  onPhase: (phase: SmtpPhase) => unknown = () => undefined,
  giveWay?: AbortSignal,
) {
  const endpoint: SmtpEndpoint = {
    protocol: 'smtp',
    host: sink.host,
    port: sink.port,
    tls: 'none',
    localName: 'client.example',
    ...extra,
  };
  return pool.send(endpoint, submission, (phase) => void onPhase(phase), '', giveWay);
}

describe('the SMTP pool', () => {
  it('sends one message after the other over one connection', async () => {
    pool = createSmtpPool();
    await send();
    const phases: SmtpPhase[] = [];
    await send({}, (phase) => phases.push(phase));
    expect(sink.messages.map(({ connection, transaction }) => [connection, transaction])).toEqual([
      [0, 0],
      [0, 1],
    ]);
    expect(phases[0]).toBe('mail');
    expect(pool.size).toBe(1);
  });

  it('opens no more connections than allowed and lets the others wait', async () => {
    pool = createSmtpPool({ maxConnections: 2 });
    sink.setScript(({ phase }) => (phase === 'final_dot' ? delay(10) : undefined));
    const results = await Promise.all(Array.from({ length: 8 }, () => send()));
    expect(results.flat().every(({ outcome }) => outcome === 'accepted')).toBe(true);
    expect(sink.connections).toBe(2);
  });

  it('gives way when it is asked to: waiting, and before the final dot', async () => {
    pool = createSmtpPool({ maxConnections: 1, maxSlow: 0 });
    for (const phase of ['greeting', 'mail', 'data'] as const) {
      sink.setScript((step) => (step.phase === phase ? silence() : undefined));
      const [first, second] = [new AbortController(), new AbortController()];
      let reach: () => void = () => undefined;
      const reached = new Promise<void>((resolve) => (reach = resolve));
      const running = send({}, (at) => at === phase && reach(), first.signal);
      const waiting = send({}, () => undefined, second.signal);
      await reached;
      second.abort();
      expect(await waiting).toMatchObject([{ outcome: 'deferred', phase: 'connect' }]);
      first.abort();
      expect(await running).toMatchObject([{ outcome: 'deferred', phase }]);
      expect(pool.size).toBe(0);
    }
    sink.setScript(() => undefined);
    expect(await send()).toMatchObject([{ outcome: 'accepted' }]);
  });

  it('lets a server go on that has the final dot, and does not send what it is asked to leave', async () => {
    pool = createSmtpPool();
    sink.setScript(({ phase }) => (phase === 'final_dot' ? delay(300) : undefined));
    const ending = new AbortController();
    const sent = send({}, (phase) => phase === 'final_dot' && ending.abort(), ending.signal);
    expect(await sent).toMatchObject([{ outcome: 'accepted' }]);
    expect(await send({}, () => undefined, ending.signal)).toMatchObject([{ outcome: 'deferred' }]);
    expect(sink.messages).toHaveLength(1);
  });

  it('does not share connections between names or credentials', async () => {
    pool = createSmtpPool();
    await send();
    await send({ localName: 'other.example' });
    expect(sink.connections).toBe(2);
  });

  it('says RSET after a refused message', async () => {
    pool = createSmtpPool();
    sink.onNext('rcpt', reply(550, '5.1.1 No such user'));
    expect(await send()).toMatchObject([{ outcome: 'rejected' }]);
    expect(await send()).toMatchObject([{ outcome: 'accepted' }]);
    expect(sink.connections).toBe(1);
    expect(sink.events.map(({ phase }) => phase)).toContain('rset');
  });

  it('closes a connection after its share of messages', async () => {
    pool = createSmtpPool({ maxMessages: 2 });
    for (let count = 0; count < 5; count += 1) await send();
    expect(sink.messages.map(({ connection }) => connection)).toEqual([0, 0, 1, 1, 2]);
  });

  it('closes a connection nobody used for a while, with QUIT', async () => {
    pool = createSmtpPool({ idleMs: 20 });
    await send();
    await eventually(() => pool.size === 0 && sink.events.at(-1)?.phase === 'quit');
  });

  it('opens a new connection when the kept one has been closed by the server', async () => {
    pool = createSmtpPool();
    await send();
    sink.dropConnections();
    expect(await send()).toMatchObject([{ outcome: 'accepted' }]);
    sink.onNext('mail', replyAndClose(421, '4.4.2 Timeout'));
    expect(await send()).toMatchObject([{ outcome: 'accepted' }]);
    expect(sink.connections).toBe(3);
  });

  it('does not send again over a new connection what may have been taken', async () => {
    pool = createSmtpPool();
    await send();
    sink.onNext('final_dot', replyAndClose(421, '4.3.2 Stopping'));
    expect(await send()).toMatchObject([{ outcome: 'deferred', phase: 'final_dot' }]);
    expect(sink.connections).toBe(1);
  });

  it('reports a server that does not answer and frees its place', async () => {
    pool = createSmtpPool({ maxConnections: 1 });
    sink.onNext('connect', replyAndClose(554, '5.7.1 Go away'));
    expect(await send()).toMatchObject([{ outcome: 'rejected', phase: 'greeting' }]);
    expect(await send()).toMatchObject([{ outcome: 'accepted' }]);
  });

  it('lets running submissions finish when it closes and refuses the others', async () => {
    pool = createSmtpPool({ maxConnections: 1 });
    sink.setScript(({ phase }) => (phase === 'final_dot' ? delay(40) : undefined));
    const running = send();
    const waiting = send();
    waiting.catch(() => undefined);
    await eventually(() => sink.events.at(-1)?.phase === 'final_dot');
    await pool.close();
    expect(await running).toMatchObject([{ outcome: 'accepted' }]);
    await expect(waiting).rejects.toBeInstanceOf(UnavailableError);
    await expect(send()).rejects.toBeInstanceOf(UnavailableError);
    expect(sink.events.at(-1)?.phase).toBe('quit');
  });
});
