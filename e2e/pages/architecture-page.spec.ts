import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');

test('docs/architecture.md has a row for every app', () => {
  const page = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');
  const named = [...page.matchAll(/^\| `apps\/([^`]+)`/gm)].map(([, app]) => app!);
  expect(named.sort()).toEqual(readdirSync(join(ROOT, 'apps')).sort());
});
