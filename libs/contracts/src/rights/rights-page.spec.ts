import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HOLDERS, RIGHTS, type Right } from '.';

const PAGE = join(__dirname, '../../../../docs/rights.md');
// Unpadded, so that a new row changes one line of the page.
const BEGIN = '<!-- prettier-ignore-start -->';
const END = '<!-- prettier-ignore-end -->';

describe('docs/rights.md', () => {
  it('shows the rights table (DAK_UPDATE_GOLDEN=1 writes it)', () => {
    const page = readFileSync(PAGE, 'utf8');
    const [before, rest] = page.split(BEGIN);
    const [shown, after] = rest!.split(END);
    if (process.env['DAK_UPDATE_GOLDEN'] === '1') {
      writeFileSync(PAGE, `${before}${BEGIN}\n\n${table()}\n${END}${after}`);
      return;
    }
    expect(shown!.trim()).toBe(table().trim());
  });

  it('explains every kind of holder', () => {
    const page = readFileSync(PAGE, 'utf8');
    for (const [holder, text] of Object.entries(HOLDERS)) {
      expect(page).toContain(`- \`${holder}\`: ${text}`);
    }
  });
});

function table(): string {
  const rows = Object.entries<Right>(RIGHTS).map(([action, right]) => [
    `\`${action}\``,
    scopesOf(right),
    right.role ?? '',
    right.session === true ? 'session' : '',
    right.holder,
    right.level ?? '',
    right.condition ?? '',
  ]);
  const head = ['Action', 'Scopes', 'Role', 'Credential', 'Record', 'Level', 'Condition'];
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |\n`)
    .join('');
}

function scopesOf({ scopes, also = [] }: Right): string {
  const any = scopes === 'public' ? 'public' : scopes === 'credential' ? '' : scopes.join(' or ');
  return [any, ...also].filter((text) => text !== '').join(' and ');
}
