import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Files below a folder that have the text in them, in UTF-8 or as UTF-16 without regard to case. */
export function filesWith(folder: string, text: string): string[] {
  const found: string[] = [];
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    let content: Buffer;
    try {
      content = readFileSync(path);
    } catch (error) {
      // Files come and go under a server that runs.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') continue;
      throw error;
    }
    if (content.toString('latin1').toLowerCase().includes(text.toLowerCase())) {
      found.push(relative(folder, path));
    }
  }
  return found;
}
