import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { removeDataDir, startDak, temporaryDataDir, type RunningDak } from '../stack/running-dak';

const ROOT = resolve(__dirname, '../..');
const RUNBOOKS = join(ROOT, 'docs/runbooks');
/** It changes the password that the others log in with. */
const LAST = 'lost-superadmin.md';
const pages = readdirSync(RUNBOOKS).filter((name) => name !== 'README.md' && name !== LAST);

/** The commands of a page, as they are read: block by block. */
function commandsOf(page: string): string {
  const text = readFileSync(join(RUNBOOKS, page), 'utf8');
  return [...text.matchAll(/^```sh\n([^]*?)^```$/gm)].map((match) => match[1]!).join('');
}

describe('the runbooks', () => {
  const dataDir = temporaryDataDir();
  const folder = mkdtempSync(join(tmpdir(), 'dak-runbooks-'));
  let dak: RunningDak;
  let stolenPrefix: string;

  beforeAll(async () => {
    for (const name of ['package.json', 'package-lock.json', 'scripts', 'dist', 'node_modules']) {
      symlinkSync(join(ROOT, name), join(folder, name));
    }
    for (const name of ['apps', 'libs', 'protos'])
      symlinkSync(join(ROOT, name), join(folder, name));
    dak = await startDak(dataDir);
    const { body, status } = await dak.api('POST', '/settings/api-keys', {
      name: 'stolen',
      scopes: ['mail.read'],
    });
    expect(status).toBe(201);
    stolenPrefix = (body as { prefix: string }).prefix;
    const backup = await run(`npm run --silent backup -- "${join(dirname(dataDir), 'backup')}"`);
    expect(backup).toMatchObject({ code: 0 });
  }, 120_000);
  afterAll(async () => {
    await dak.stop();
    removeDataDir(dataDir);
    rmSync(folder, { recursive: true, force: true });
  });

  function run(commands: string): Promise<{ code: number | null; said: string }> {
    const child = spawn('bash', ['--norc', '-e', '-o', 'pipefail'], {
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        DAK_DATA_DIR: dataDir,
        SUPERADMIN_PASSWORD: dak.bootstrap.superadmin.password,
        PREFIX: stolenPrefix,
        SUBJECT: 'by mistake',
        BACKUP: join(dirname(dataDir), 'backup'),
        NEW: join(dirname(dataDir), 'new'),
        BEFORE: join(dirname(dataDir), 'before'),
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (said += text));
    }
    child.stdin.end(commands);
    return new Promise((done) => child.once('close', (code) => done({ code, said })));
  }

  // Before the pages: the last of them replaces the password that this one uses.
  it('cancel all mail that goes out by mistake, however much else waits', async () => {
    const { mailboxes } = dak.bootstrap;
    const sendLater = async (subject: string): Promise<string> => {
      const { status, body } = await dak.api('POST', '/compose/send', {
        ...{ mailbox_id: mailboxes[0]!.id, to: ['someone@elsewhere.example'], body_text: 'hello' },
        ...{ subject, send_at: new Date(Date.now() + 3_600_000).toISOString() },
      });
      expect(status).toBe(201);
      return (body as { id: string }).id;
    };
    const first = await sendLater('sent by mistake');
    for (let n = 0; n < 100; n += 1) await sendLater(`wanted ${n}`);
    const last = await sendLater('by mistake, too');
    const { said, code } = await run(
      `${commandsOf('README.md')}\n${commandsOf('wrong-mass-mail.md')}`,
    );
    expect({ said, code }).toEqual({ said: expect.any(String), code: 0 });
    for (const id of [first, last]) expect(said).toMatch(new RegExp(`${id}$`, 'm'));
    const { body } = await dak.api('GET', '/outbox?per_page=100');
    expect(body.data).toHaveLength(100);
  }, 120_000);

  it.each([...pages, LAST])(
    'have commands that work: %s',
    async (page) => {
      const commands = commandsOf(page);
      expect(commands).not.toBe('');
      const { code, said } = await run(`${commandsOf('README.md')}\n${commands}`);
      expect({ said, code }).toEqual({ said: expect.any(String), code: 0 });
      expect(said).not.toMatch(/"error"/);
    },
    120_000,
  );

  it('are all listed, and link to pages that exist', () => {
    const index = readFileSync(join(RUNBOOKS, 'README.md'), 'utf8');
    for (const page of [...pages, LAST]) {
      expect(index).toContain(`](${page})`);
      for (const [, link] of readFileSync(join(RUNBOOKS, page), 'utf8').matchAll(
        /\]\(([a-z-]+\.md)\)/g,
      )) {
        expect(readdirSync(RUNBOOKS)).toContain(link);
      }
    }
  });

  it('end with a superadmin who logs in with the password that was made', async () => {
    const { said } = await run('npm run --silent superadmin -- reset');
    const login = await fetch(`${dak.bootstrap.base_url}/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: said,
    });
    expect(login.status).toBe(200);
  });
});
