import { existsSync, readFileSync } from 'node:fs';
import { runningEmbeddedPostgres } from '@dak/platform/embedded-postgres';
import { eventually } from '@dak/testing/waiting';
import { removeDataDir, startDak, temporaryDataDir, type RunningDak } from '../stack/running-dak';
import { openSession } from '../stack/sending-mail';
import { withDatabase } from '../stack/stack-databases';

/** Of an answer that says: later. */
const WITHIN_MS = 10_000;
const BACK_WITHIN_MS = 15_000;

describe('while PostgreSQL is frozen', () => {
  const dataDir = temporaryDataDir();
  let dak: RunningDak;
  let pids: number[] = [];

  beforeAll(async () => {
    dak = await startDak(dataDir);
  }, 120_000);
  afterAll(async () => {
    signal('SIGCONT');
    await dak.stop();
    removeDataDir(dataDir);
  }, 60_000);

  const signal = (name: NodeJS.Signals) => {
    for (const pid of pids) if (existsSync(`/proc/${pid}`)) process.kill(pid, name);
  };

  it('answers 503 and SMTP 4xx within ten seconds, and works again by itself', async () => {
    const { body } = await dak.api('GET', '/mailboxes');
    const [mailbox] = (body as { data: { id: string; address: string }[] }).data;
    const compose = () =>
      dak.api('POST', '/compose/send', {
        mailbox_id: mailbox!.id,
        to: ['ada@elsewhere.example'],
        subject: 'Frozen',
        body_text: 'Hello',
      });
    expect((await compose()).status).toBe(201);
    const dialog = await openSession(dak.bootstrap.smtp.port);

    pids = (await postgresOf(dataDir)).filter((pid) => existsSync(`/proc/${pid}`));
    expect(pids.length).toBeGreaterThan(3);
    signal('SIGSTOP');
    const begun = performance.now();
    const ask = async (what: string, answer: Promise<{ status: number }>) => {
      const { status } = await answer;
      const isRight = status === 503 && performance.now() - begun < WITHIN_MS;
      return isRight
        ? []
        : [`${what}: ${status} after ${Math.round(performance.now() - begun)} ms`];
    };
    const wrong = await Promise.all([
      ask('list conversations', dak.api('GET', '/conversations')),
      ask('list departments', dak.api('GET', '/departments')),
      ask('read the audit log', dak.api('GET', '/audit')),
      ask('list webhooks', dak.api('GET', '/webhooks')),
      ask('change settings', dak.api('PATCH', '/settings/organization', { name: 'Demo' })),
      ask('compose', compose()),
    ]);
    expect(wrong.flat()).toEqual([]);
    const answered = performance.now();
    await dialog.say('MAIL FROM:<ada@elsewhere.example>\r\n');
    expect(await dialog.say(`RCPT TO:<new-${mailbox!.address}>\r\n`)).toMatch(/^4\d\d /);
    expect(performance.now() - answered).toBeLessThan(WITHIN_MS);
    dialog.socket.destroy();

    signal('SIGCONT');
    await eventually(
      'Dak did not find its database again',
      async () =>
        (await compose()).status === 201 && (await dak.api('GET', '/departments')).status === 200,
      BACK_WITHIN_MS,
    );
    pids = [];
  }, 120_000);
});

/** The server of this data folder with its children. */
async function postgresOf(dataDir: string): Promise<number[]> {
  return withDatabase(runningEmbeddedPostgres(dataDir)!, async (database) => {
    const { rows } = await database.query<{ pid: number }>('select pid from pg_stat_activity');
    const children = rows.map(({ pid }) => pid);
    return [parentOf(children[0]!), ...children];
  });
}

function parentOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}
