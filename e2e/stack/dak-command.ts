import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { DIST } from './running-dak';

export interface Ended {
  code: number | null;
  /** Standard output. */
  out: string;
  /** Lines of standard error. */
  lines: string[];
}

/** A command of `package.json` that is a bundle, as npm runs it. */
export function runCommand(
  name: string,
  args: readonly string[],
  environment: Record<string, string>,
): Promise<Ended> {
  const child = spawn(process.execPath, [join(DIST, 'commands', `${name}.js`), ...args], {
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  return new Promise((resolve) =>
    child.once('close', (code) =>
      resolve({ code, out, lines: said.split('\n').filter((line) => line !== '') }),
    ),
  );
}
