import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import { CHECKOUT, waitFor, type BenchRun, type StartedProcess } from './bench-run';
import { NODE_FLAGS, plainEnvironment, profilingFlags } from './dak-process';

/** Runs a TypeScript program of the checkout in a process of its own and returns what it prints. */
export async function programOutput(
  run: BenchRun,
  program: string,
  args: readonly string[],
): Promise<string> {
  const child = spawn(process.execPath, ['--import', 'tsx', join(CHECKOUT, program), ...args], {
    cwd: CHECKOUT,
    env: plainEnvironment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const forget = run.atEnd(() => void child.kill('SIGKILL'));
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  const code = await new Promise((resolve) => child.once('close', resolve));
  await forget();
  if (code !== 0) throw new Error(`${program} ended with ${String(code)}.`);
  return output;
}

/** As {@link programOutput}, of a program that prints one JSON value. */
export async function runProgram<T>(
  run: BenchRun,
  program: string,
  args: readonly string[],
): Promise<T> {
  return JSON.parse(await programOutput(run, program, args)) as T;
}

export interface Program extends StartedProcess {
  readonly port: number;
}

/** Starts a TypeScript program of this folder that serves until it is stopped and prints its port. */
export async function startProgram(
  run: BenchRun,
  name: string,
  program: string,
  args: readonly string[],
): Promise<Program> {
  const started = run.start(
    name,
    process.execPath,
    [...NODE_FLAGS, ...profilingFlags(), '--import', 'tsx', join(__dirname, program), ...args],
    { cwd: CHECKOUT, env: { ...plainEnvironment(), NODE_ENV: 'production' } },
  );
  const port = await waitFor(`The start of ${program}`, 30, () => {
    const output = readFileSync(started.logFile, 'utf8');
    if (started.child.exitCode !== null) throw new Error(`${program} ended: ${output}`);
    const printed = /^\{"port":(\d+)\}$/m.exec(output);
    return printed === null ? null : Number(printed[1]);
  });
  return { ...started, port };
}
