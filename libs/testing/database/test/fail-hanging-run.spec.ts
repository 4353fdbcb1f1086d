import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const FILE = join(__dirname, '../src/fail-hanging-run.ts');

function run(code: string) {
  const script = `const { failHangingRun } = require(${JSON.stringify(FILE)}); ${code}`;
  return spawnSync(process.execPath, ['--require', 'tsx/cjs', '-e', script], { encoding: 'utf8' });
}

describe('a run of tests that is over', () => {
  it('fails when its process does not end, and shows what is open', () => {
    const { status, stderr } = run('setInterval(() => undefined, 1_000); failHangingRun(50);');
    expect(status).toBe(1);
    expect(stderr).toMatch(/does not end\. Open: .*Timeout/);
  });

  it('is not kept alive by the check', () => {
    expect(run('failHangingRun(60_000);')).toMatchObject({ status: 0, stderr: '' });
  });
});
