import { readFile } from 'node:fs/promises';

import { inspectMessage } from './inspect-message';

/** `npm run inspect -- FILE…`: one JSON object per line per file; the exit code is 1 when a file could not be read. */
async function main(files: readonly string[]): Promise<number> {
  if (files.length === 0) {
    process.stderr.write('Name at least one message file: npm run inspect -- FILE…\n');
    return 1;
  }
  let exitCode = 0;
  for (const file of files) {
    try {
      const line = `${JSON.stringify(inspectMessage(file, await readFile(file)))}\n`;
      // Waiting for a slow reader keeps a thousand large lines out of memory.
      if (!process.stdout.write(line)) {
        await new Promise((resolve) => process.stdout.once('drain', resolve));
      }
    } catch (error) {
      exitCode = 1;
      const cause = error instanceof Error ? error.message : String(error);
      process.stderr.write(`${file}: cannot be read: ${cause}\n`);
    }
  }
  return exitCode;
}

void main(process.argv.slice(2)).then((exitCode) => {
  process.exitCode = exitCode;
});
