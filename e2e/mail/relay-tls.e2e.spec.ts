import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { startSmtpSink, type SmtpSink } from '@dak/testing/smtp-sink';
import { createSender, outboxEntry, type OutboxEntry } from '../stack/outgoing-mail';
import { DIST, removeDataDir, temporaryDataDir } from '../stack/running-dak';
import { startStack, type Stack } from '../stack/stack';

const CREDENTIALS = { user: 'dak', secret: 'a-relay-password' };
const LOGIN = `${CREDENTIALS.user}:${CREDENTIALS.secret}`;

describe('the password of a relay', () => {
  let sink: SmtpSink;
  let stack: Stack;

  const start = async (
    relay: Parameters<typeof startSmtpSink>[0],
    url: (port: number) => string,
  ): Promise<(status: string) => Promise<OutboxEntry>> => {
    sink = await startSmtpSink({ credentials: CREDENTIALS, ...relay });
    stack = await startStack({ transport: url(sink.port) });
    const sender = await createSender(stack, 'relayed');
    const id = await sender.send('ada@elsewhere.example');
    return (status) =>
      outboxEntry(sender, id, ({ recipients }) => recipients[0]!.status === status);
  };
  afterEach(async () => {
    await stack.close();
    await sink.stop();
  });

  it.each([
    ['STARTTLS is offered', { extensions: { auth: ['PLAIN'], startTls: true } }, 'smtp', ''],
    [
      'STARTTLS is asked for',
      { extensions: { auth: ['PLAIN'], startTls: true } },
      'smtp',
      '?tls=required',
    ],
    ['STARTTLS is not offered', { extensions: { auth: ['PLAIN'] } }, 'smtp', '?tls=required'],
    [
      'TLS comes first',
      { implicitTls: true, extensions: { auth: ['PLAIN', 'LOGIN'] } },
      'smtps',
      '',
    ],
  ] as const)(
    'is kept from a server whose certificate nobody vouches for, when %s',
    async (_, relay, scheme, query) => {
      const becomes = await start(
        relay,
        (port) => `${scheme}://${LOGIN}@127.0.0.1:${port}${query}`,
      );
      await becomes('deferred');
      expect(sink.events.map(({ phase }) => phase)).not.toContain('auth');
      expect(sink.messages).toHaveLength(0);
    },
    60_000,
  );

  it('may go to this machine in the clear', async () => {
    const becomes = await start(
      { extensions: { auth: ['PLAIN'] } },
      (port) => `smtp://${LOGIN}@127.0.0.1:${port}`,
    );
    await becomes('sent');
    expect(sink.messages[0]!.user).toBe(CREDENTIALS.user);
  }, 60_000);
});

it('a relay that would be shown the password without proof of its name keeps Dak from starting', () => {
  const dataDir = temporaryDataDir();
  try {
    const { status, stderr } = spawnSync(process.execPath, [join(DIST, 'standalone', 'main.js')], {
      env: {
        PATH: process.env['PATH'],
        DAK_DATA_DIR: dataDir,
        DAK_HTTP_PORT: '0',
        DAK_SMTP_PORT: '0',
        DAK_LMTP_PORT: '0',
        DAK_MAIL_TRANSPORT: `smtp://${LOGIN}@relay.example:587?tls=opportunistic`,
      },
      encoding: 'utf8',
      timeout: 60_000,
    });
    expect(status).toBe(1);
    expect(stderr).toContain('smtps:// or tls=required');
    expect(stderr).not.toContain(CREDENTIALS.secret);
  } finally {
    removeDataDir(dataDir);
  }
}, 90_000);
