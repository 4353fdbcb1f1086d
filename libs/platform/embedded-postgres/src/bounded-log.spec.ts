import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@dak/testing/waiting';
import { boundLog } from './bounded-log';

describe('the log of the server', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dak-log-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('begins again when it has grown, with what was in it beside it', async () => {
    const path = join(folder, 'postgres.log');
    writeFileSync(path, 'first\n');
    const end = boundLog(path, 10, 5);
    expect(readFileSync(path, 'utf8')).toBe('first\n');
    appendFileSync(path, 'second\n');
    await eventually(() => readFileSync(path, 'utf8') === '');
    end();
    expect(readFileSync(`${path}.1`, 'utf8')).toBe('first\nsecond\n');
  });
});
