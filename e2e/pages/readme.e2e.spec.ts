import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePort } from '@dak/platform/lifecycle';
import type { Bootstrap } from '@dak/platform/deployment';
import { eventually } from '@dak/testing/waiting';

const ROOT = resolve(__dirname, '../..');
const START_MS = 120_000;

/** The commands of the README's shell blocks, block by block. */
function shellBlocks(): string[] {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  return [...readme.matchAll(/^```sh\n([^]*?)^```$/gm)].map((match) => match[1]!);
}

/** A terminal in which commands are typed one after the other, as in the README's tour. */
class Terminal {
  readonly process: ChildProcess;
  said = '';

  constructor(cwd: string, environment: Record<string, string>) {
    this.process = spawn('bash', ['--norc'], {
      cwd,
      detached: true,
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    for (const stream of [this.process.stdout!, this.process.stderr!]) {
      stream.setEncoding('utf8').on('data', (text: string) => (this.said += text));
    }
  }

  type(commands: string): void {
    this.process.stdin!.write(commands);
  }

  /** Types and waits for the end; what was printed. */
  async run(commands: string): Promise<string> {
    this.said = '';
    this.type(`${commands}\necho "[ended with $?]"\n`);
    await eventually(
      'the end of the commands',
      async () => /\[ended with \d+\]/.test(this.said),
      START_MS,
    );
    const end = this.said.lastIndexOf('[ended with ');
    expect(this.said.slice(end)).toContain('[ended with 0]');
    return this.said.slice(0, end);
  }

  /** Ctrl-C for what runs in it, and closes it. */
  async interrupt(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = new Promise((done) => this.process.once('exit', done));
    this.process.stdin!.end();
    process.kill(-this.process.pid!, 'SIGINT');
    await ended;
  }
}

describe('the tour of the README', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dak-readme-'));
  const terminals: Terminal[] = [];
  let ports: Record<string, string>;

  beforeAll(async () => {
    for (const name of ['package.json', 'package-lock.json', 'scripts', 'dist', 'node_modules']) {
      symlinkSync(join(ROOT, name), join(folder, name));
    }
    ports = {
      DAK_HTTP_PORT: String(await freePort()),
      DAK_SMTP_PORT: String(await freePort()),
      DAK_LMTP_PORT: String(await freePort()),
    };
  });
  afterAll(async () => {
    for (const terminal of terminals) await terminal.interrupt();
    rmSync(folder, { recursive: true, force: true });
  });

  const open = (environment: Record<string, string> = {}): Terminal => {
    const terminal = new Terminal(folder, environment);
    terminals.push(terminal);
    return terminal;
  };
  const bootstrap = (): Bootstrap =>
    JSON.parse(readFileSync(join(folder, '.dak/bootstrap.json'), 'utf8')) as Bootstrap;

  async function started(commands: string): Promise<Terminal> {
    rmSync(join(folder, '.dak/bootstrap.json'), { force: true });
    const terminal = open(ports);
    terminal.type(commands);
    await eventually(
      'Dak answers',
      async () => {
        if (!existsSync(join(folder, '.dak/bootstrap.json'))) return false;
        return fetch(`${bootstrap().site_url}/readyz`).then(
          (reply) => reply.ok,
          () => false,
        );
      },
      START_MS,
    );
    return terminal;
  }

  it('works word for word, and everything is still there after a stop', async () => {
    const blocks = shellBlocks();
    const [start, whoAmI, send, read, answer, sink, restart, answerAgain, files, rule, numbers] =
      blocks;
    expect(start).toBe('npm start\n');
    expect(sink).toMatch(/^npm run sink -- \d+\n$/);
    expect(restart).toMatch(/^DAK_MAIL_TRANSPORT=smtp:\S+ npm start\n$/);
    expect(blocks[11]).toMatch(/^npm test\n/);

    const server = await started(start!);
    const tour = open();
    expect(await tour.run(whoAmI!)).toContain('"type":"api_key"');
    for (const file of ['docs', 'docs/swagger-ui.css', 'docs/swagger-ui-bundle.js']) {
      expect((await fetch(`${bootstrap().site_url}/${file}`)).status).toBe(200);
    }
    await tour.run(send!);
    const first = bootstrap();
    const list = async (path: string) => {
      const reply = await fetch(first.base_url + path, {
        headers: { authorization: `Bearer ${first.api_key}` },
      });
      return (await reply.json()) as { total: number };
    };
    await eventually('the mail is there', async () => (await list('/conversations')).total === 1);
    const shown = await tour.run(read!);
    expect(shown).toContain('"subject":"Broken lamp"');
    expect(shown).toContain('My lamp does not light up.');
    expect(await tour.run(answer!)).toMatch(/"status":"(queued|sent)"/);
    expect(await tour.run(answer!)).toMatch(/"status":"(queued|sent)"/);

    const receiver = open();
    receiver.type(sink!);
    await server.interrupt();
    await started(restart!);
    expect(bootstrap()).toMatchObject({ api_key: first.api_key, mailboxes: first.mailboxes });
    expect(await tour.run(answerAgain!)).toMatch(/"status":"(queued|sent)"/);
    await eventually('the sink prints it', async () =>
      /A new bulb is on its way/.test(receiver.said),
    );
    expect(receiver.said).toMatch(/^In-Reply-To: </m);
    expect(receiver.said).toContain('<lamp-1@example.org>');

    const conversation = (await tour.run('echo $CONVERSATION')).trim();
    expect((await list(`/conversations/${conversation}/messages`)).total).toBe(3);
    expect(await tour.run(files!)).toContain('"subject":"Broken lamp"');
    const sales = first.mailboxes.find(({ address }) => address === 'sales@dak.example')!;
    expect((await list(`/conversations?mailbox=${sales.id}`)).total).toBe(1);

    expect(await tour.run(rule!)).toContain('"subject":"Another lamp"');
    const told = await tour.run(numbers!);
    expect(told).toMatch(/"received":[12]\b/);
    expect(told).toContain('\n20');
  }, 300_000);
});
