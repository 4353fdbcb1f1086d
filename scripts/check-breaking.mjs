#!/usr/bin/env node
/**
 * `buf breaking` against the published protos, an image as JSON, so that no history is needed. With `--publish`, what
 * was added is published as well; what breaks never is.
 */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

const PUBLISHED = 'protos/golden/published.json';

function buf(...args) {
  const { status, stdout } = spawnSync('node_modules/.bin/buf', args, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status === 0) return stdout;
  process.stdout.write(stdout);
  process.exit(status ?? 1);
}

buf('breaking', 'protos', '--against', PUBLISHED);
if (process.argv.includes('--publish')) {
  const image = JSON.parse(buf('build', 'protos', '--exclude-source-info', '-o', '-#format=json'));
  const files = image.file.map((file) => JSON.stringify(file));
  writeFileSync(PUBLISHED, `{"file":[\n${files.join(',\n')}\n]}\n`);
}
