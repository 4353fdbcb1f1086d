import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
const PAGE = readFileSync(join(ROOT, 'docs/changing.md'), 'utf8');

test('docs/changing.md names files and folders that exist', () => {
  const named = [...PAGE.matchAll(/`((?:apps|bench|e2e|libs|protos|scripts)\/[^`\s]+)`/g)].map(
    ([, path]) => path!,
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});
