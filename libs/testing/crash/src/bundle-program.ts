import { execFileSync } from 'node:child_process';
import { basename, join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../../../..');

/**
 * One JavaScript file of a program and all it imports, in `folder`: a process that is killed several
 * times a second has to start faster than TypeScript compiles. @returns its path.
 */
export function bundleProgram(entry: string, folder: string): string {
  const outfile = join(folder, `${basename(entry, '.ts')}.js`);
  execFileSync(
    join(ROOT, 'node_modules/.bin/esbuild'),
    [
      entry,
      ...['--bundle', '--platform=node', '--format=cjs', '--log-level=error'],
      ...[`--tsconfig=${join(ROOT, 'tsconfig.json')}`, '--external:pg-native'],
      `--outfile=${outfile}`,
    ],
    { cwd: ROOT },
  );
  return outfile;
}
