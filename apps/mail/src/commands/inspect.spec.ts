import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'dak-inspect-'));
const program = join(folder, 'inspect.js');

beforeAll(() => {
  const esbuild = join(dirname(require.resolve('esbuild/package.json')), 'bin', 'esbuild');
  execFileSync(esbuild, [
    join(__dirname, 'inspect.ts'),
    '--bundle',
    '--platform=node',
    '--log-level=error',
    `--tsconfig=${resolve(__dirname, '../../../../tsconfig.json')}`,
    `--outfile=${program}`,
  ]);
});
afterAll(() => rmSync(folder, { recursive: true }));

const inspect = (...files: string[]) =>
  spawnSync(process.execPath, [program, ...files], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });

describe('inspect', () => {
  it('prints one line per file in the order given, and reads bytes', () => {
    const files = Array.from({ length: 50 }, (_, index) => {
      const file = join(folder, `${index}.eml`);
      writeFileSync(
        file,
        Buffer.from(
          `Subject: ${index}\r\nContent-Type: text/plain; charset=iso-8859-1\r\n\r\n\xe9`,
          'latin1',
        ),
      );
      return file;
    });
    const { stdout, status, stderr } = inspect(...files);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { file: string; text: string });
    expect(lines.map((line) => line.file)).toEqual(files);
    expect(lines[0]?.text).toBe('é');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('names a file that cannot be read and still prints the others', () => {
    const good = join(folder, 'good.eml');
    writeFileSync(good, 'Subject: x\r\n\r\ny');
    const missing = join(folder, 'missing.eml');
    const { stdout, status, stderr } = inspect(missing, good);
    expect(stdout.trimEnd().split('\n')).toHaveLength(1);
    expect(stderr).toContain(missing);
    expect(status).toBe(1);
  });

  it('asks for a file when none is named', () => {
    expect(inspect()).toMatchObject({ status: 1, stdout: '' });
  });
});
