import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { finished } from 'node:stream/promises';

/** Signals and exit codes belong to a process, so a separate one is observed. */
async function lifeOf(
  start: string,
  afterStart: (child: ChildProcess) => void = () => undefined,
  stopMs = 0,
) {
  const program = execFileSync('esbuild', ['--bundle', '--platform=node', '--loader=ts'], {
    cwd: __dirname,
    input: `import { runUntilStopped } from './run-until-stopped';
            const stop = async () => {
              await new Promise((resolve) => setTimeout(resolve, ${stopMs}));
              process.stdout.write('stopped');
            };
            setInterval(() => undefined, 1000);
            void runUntilStopped(async () => { ${start} }).catch(() => undefined);
            setTimeout(() => process.stdout.write('started'), 50);`,
    encoding: 'utf8',
  });
  const child = spawn(process.execPath, ['-e', program], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const output = { out: '', err: '' };
  child.stderr!.on('data', (data: Buffer) => (output.err += data.toString()));
  child.stdout!.on('data', (data: Buffer) => {
    output.out += data.toString();
    if (output.out === 'started') afterStart(child);
  });
  const ended = once(child, 'exit');
  await Promise.all([finished(child.stdout!), finished(child.stderr!)]);
  const [code] = (await ended) as [number];
  return { code, ...output };
}

describe('runUntilStopped', () => {
  it('stops gracefully on SIGTERM and ends with code 0', async () => {
    const life = await lifeOf('return { stop };', (child) => child.kill('SIGTERM'));
    expect(life).toEqual({ code: 0, out: 'startedstopped', err: '' });
  });

  it('takes a signal that npm passes on for the same one', async () => {
    const interrupt = (child: ChildProcess): void => {
      for (let n = 0; n < 20; n += 1) setTimeout(() => child.kill('SIGINT'), n / 4);
    };
    const life = await lifeOf('return { stop };', interrupt, 300);
    expect(life).toEqual({ code: 0, out: 'startedstopped', err: '' });
  });

  it('ends at once when asked again later', async () => {
    const interrupt = (child: ChildProcess): void => {
      child.kill('SIGINT');
      setTimeout(() => child.kill('SIGINT'), 1_500);
    };
    const life = await lifeOf('return { stop };', interrupt, 20_000);
    expect(life).toEqual({ code: 130, out: 'started', err: '' });
  });

  it('stops gracefully when the process that started it is gone', async () => {
    const life = await lifeOf('return { stop };', (child) => child.disconnect());
    expect(life).toEqual({ code: 0, out: 'startedstopped', err: '' });
  });

  it('says in one sentence why a start failed and ends with code 1', async () => {
    const life = await lifeOf(`throw new Error('The folder is read-only.');`);
    expect(life).toEqual({ code: 1, out: '', err: 'Dak cannot start: The folder is read-only.\n' });
  });

  it('stops and ends with code 1 when what it needs has ended', async () => {
    const life = await lifeOf(
      `return { stop, failed: Promise.resolve(new Error('PostgreSQL ended.')) };`,
    );
    expect(life).toEqual({
      code: 1,
      out: 'stopped',
      err: 'Dak cannot go on: PostgreSQL ended.\n',
    });
  });
});
