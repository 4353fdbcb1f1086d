import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { eventually, timePasses } from '@dak/testing/waiting';
import { isAlive } from '../src/run-server';

const runs: ChildProcess[] = [];

/** Starts a separate test run, waits until it has joined, and returns the pid of its server. */
async function startRun(server: string): Promise<{ run: ChildProcess; pid: number }> {
  const environment = { ...process.env };
  delete environment['DAK_TEST_RUN_PID'];
  const run = spawn(
    process.execPath,
    ['--import', 'tsx', join(__dirname, 'sleeping-run.ts'), server],
    { stdio: ['ignore', 'pipe', 'inherit'], env: environment },
  );
  runs.push(run);
  const [line] = (await once(run.stdout, 'data')) as [Buffer];
  return { run, pid: Number(line.toString()) };
}

async function kill(run: ChildProcess): Promise<void> {
  run.kill('SIGKILL');
  await once(run, 'exit');
}

describe('a server shared by test runs', () => {
  afterAll(() => runs.forEach((run) => run.kill('SIGKILL')));

  it('is one for runs at the same time and ends after the last one was killed', async () => {
    const name = `sample-${process.pid}`;
    const [first, second] = await Promise.all([startRun(name), startRun(name)]);
    expect(second.pid).toBe(first.pid);
    await kill(first.run);
    // Whether somebody uses the server is asked every second.
    await timePasses(1_500);
    expect(isAlive(first.pid)).toBe(true);
    await kill(second.run);
    await eventually(() => !isAlive(first.pid));
  });
});
