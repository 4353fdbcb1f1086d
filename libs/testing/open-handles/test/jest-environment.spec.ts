import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const JEST = join(__dirname, '../../../../node_modules/jest/bin/jest.js');
const CONFIG = {
  rootDir: join(__dirname, 'suites'),
  testMatch: ['**/*.ts'],
  testEnvironment: join(__dirname, '../src/jest-environment.ts'),
  transform: {
    '\\.ts$': ['@swc/jest', { jsc: { parser: { syntax: 'typescript' }, target: 'es2023' } }],
  },
};

/** Runs jest with a forced exit, since leaked handles would keep it alive. */
async function run(suite: string) {
  const args = [JEST, '--config', JSON.stringify(CONFIG), '--runInBand', '--forceExit', suite];
  const ended = await promisify(execFile)(process.execPath, args).then(
    ({ stderr }) => ({ code: 0, stderr }),
    ({ code, stderr }: { code: number; stderr: string }) => ({ code, stderr }),
  );
  return { passed: ended.code === 0, output: ended.stderr };
}

describe('a suite whose tests pass', () => {
  it('passes when it closes what it opened', async () => {
    expect(await run('closes-everything')).toMatchObject({ passed: true });
  });

  it.each([
    ['leaks-a-worker', 'a worker thread'],
    ['leaks-a-child', 'the process sleep 9'],
  ])('fails when it %s', async (suite, kind) => {
    const { passed, output } = await run(suite);
    expect(passed).toBe(false);
    expect(output).toContain(`${suite}.ts leaves open: ${kind}.`);
  });
});

describe('a suite that fails', () => {
  it.each([
    ['fails-and-leaks', 'the failure of the test'],
    ['fails-after-all-and-leaks', 'the failure of the hook'],
  ])('shows why, and not what it left open: %s', async (suite, reason) => {
    const { passed, output } = await run(suite);
    expect(passed).toBe(false);
    expect(output).toContain(reason);
    expect(output).not.toContain('leaves open');
  });
});
