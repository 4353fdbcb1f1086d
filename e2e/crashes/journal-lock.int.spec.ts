import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStack } from '../stack/stack';

describe('the journal folder of a mail process', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dak-journal-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('belongs to one process at a time, whose leases nobody else frees', async () => {
    const journalFolder = join(folder, 'journal');
    const first = await startStack({ journalFolder });
    await expect(startStack({ journalFolder })).rejects.toMatchObject({
      code: 'journal_folder_in_use',
      message: `the journal folder ${journalFolder} is in use by another mail process. Give each of them a DAK_JOURNAL_DIR of its own.`,
    });
    await first.close();
    const next = await startStack({ journalFolder });
    await next.close();
  }, 60_000);
});
