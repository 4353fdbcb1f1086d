import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_CODES, ERROR_KINDS, OPERATING_CODES, PROTOCOL_CODES } from '@dak/kernel';
import { ERROR_STATUS } from './error-status';

const PAGE = join(__dirname, '../../../../docs/errors.md');
// Unpadded, so that a new row changes one line of the page.
const TABLE = /<!-- prettier-ignore-start -->.*?<!-- prettier-ignore-end -->/gs;

describe('docs/errors.md', () => {
  it('shows every code with its status (DAK_UPDATE_GOLDEN=1 writes it)', () => {
    const page = readFileSync(PAGE, 'utf8');
    const tables = [repliesTable(), operatingTable()];
    const expected = page.replace(TABLE, () => {
      const table = tables.shift();
      return `<!-- prettier-ignore-start -->\n\n${table}\n<!-- prettier-ignore-end -->`;
    });
    if (process.env['DAK_UPDATE_GOLDEN'] === '1') writeFileSync(PAGE, expected);
    else expect(page).toBe(expected);
    expect(tables).toEqual([]);
  });
});

function repliesTable(): string {
  const ofKinds = ERROR_KINDS.flatMap((kind) =>
    rowsOf(ERROR_CODES[kind]).map((row) => [ERROR_STATUS[kind], ...row] as const),
  );
  const ofProtocol = Object.entries(PROTOCOL_CODES).map(
    ([code, { status, meaning }]) => [status, `\`${code}\``, meaning] as const,
  );
  const rows = [...ofKinds, ...ofProtocol].sort(([one], [other]) => one - other);
  return tableOf(['Status', 'Code', 'Meaning'], rows);
}

function operatingTable(): string {
  return tableOf(['Code', 'Meaning'], Object.values(OPERATING_CODES).flatMap(rowsOf));
}

function rowsOf(codes: Readonly<Record<string, string>>): [code: string, meaning: string][] {
  return Object.entries(codes).map(([code, meaning]) => [`\`${code}\``, meaning]);
}

function tableOf(head: readonly string[], rows: readonly (readonly unknown[])[]): string {
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |\n`)
    .join('');
}
