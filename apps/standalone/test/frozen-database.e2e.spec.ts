import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  eventually,
  removeDataDir,
  startDak,
  temporaryDataDir,
  type RunningDak,
} from './running-dak';
import { openSession } from './sending-mail';

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
    for (const pid of pids) process.kill(pid, name);
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

    pids = postgresOf(dataDir);
    expect(pids.length).toBeGreaterThan(3);
    signal('SIGSTOP');
    const begun = performance.now();
    const asked = [
      dak.api('GET', '/conversations'),
      dak.api('GET', '/departments'),
      dak.api('GET', '/audit'),
      dak.api('GET', '/webhooks'),
      dak.api('PATCH', '/settings/organization', { name: 'Demo' }),
      compose(),
    ];
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(performance.now() - begun).toBeLessThan(WITHIN_MS);
    expect(statuses).toEqual(asked.map(() => 503));
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
function postgresOf(dataDir: string): number[] {
  const [name] = readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('postmaster.pid'),
  );
  const file = join(dataDir, name!);
  const postmaster = Number(readFileSync(file, 'utf8').split('\n')[0]);
  const children = readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === postmaster;
    } catch {
      return false;
    }
  });
  return [postmaster, ...children.map(Number)];
}
