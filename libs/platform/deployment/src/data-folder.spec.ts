import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDataFolder, UNDER_WAY } from './data-folder';

describe('a data folder', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dak-folder-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is not opened while a restore into it has not ended, and nothing in it is touched', () => {
    const file = join(folder, UNDER_WAY);
    writeFileSync(file, 'a restore\n');
    expect(() => openDataFolder(folder)).toThrow(/has not ended: run it again/);
    expect(() => openDataFolder(folder)).toThrow(/has not ended/);
    expect(readdirSync(folder).sort()).toEqual(['dak.lock', UNDER_WAY]);
    rmSync(file);
    openDataFolder(folder).release();
  });
});
