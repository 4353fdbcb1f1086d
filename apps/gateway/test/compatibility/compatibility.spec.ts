import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { currentSurface, surfaceBreaks, type PublicSurface } from './public-surface';

const FILE = join(__dirname, 'golden/published-surface.json');

describe('what clients build on', () => {
  it('does not break; DAK_UPDATE_GOLDEN=1 publishes what was added', async () => {
    const published = JSON.parse(readFileSync(FILE, 'utf8')) as PublicSurface;
    const current = await currentSurface();
    expect(surfaceBreaks(published, current)).toEqual([]);
    if (process.env['DAK_UPDATE_GOLDEN'] === '1') writeFileSync(FILE, `${lines(current, 4)}\n`);
  });
});

/** JSON with a line for each operation, record, kind and code, so that a change can be read. */
function lines(value: unknown, depth: number): string {
  if (depth === 0 || typeof value !== 'object' || value === null || Array.isArray(value))
    return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}:${lines(member, depth - 1)}`,
  );
  return `{\n${members.join(',\n')}\n}`;
}
