import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const FILE = 'process.name';

/**
 * The name under which the process that owns this folder takes leases. It stays the same over
 * restarts: at a start, leases under it are of a process that is gone.
 */
export async function readProcessName(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, FILE);
  const known = (await readFile(path, 'utf8').catch(emptyIfMissing)).trim();
  if (known !== '') return known;
  const made = randomUUID();
  const file = await open(path, 'w', 0o600);
  try {
    await file.writeFile(made);
    await file.sync();
  } finally {
    await file.close();
  }
  return made;
}

function emptyIfMissing(error: unknown): string {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
  throw error;
}
