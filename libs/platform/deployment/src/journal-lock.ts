import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ConflictError } from '@dak/kernel';
import { tryLockFile, type FileLock } from '@dak/platform/lifecycle';

/**
 * Makes the folder of a mail process's journal and name if it is absent, and holds it for this process alone: another
 * one under the same name would take over, at its start, what this one is working on.
 * @throws ConflictError `journal_folder_in_use`
 */
export function lockJournalFolder(folder: string): FileLock {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const lock = tryLockFile(join(folder, 'journal.lock'));
  if (lock !== null) return lock;
  throw new ConflictError(
    `the journal folder ${folder} is in use by another mail process. Give each of them a DAK_JOURNAL_DIR of its own.`,
    'journal_folder_in_use',
  );
}
