import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { VARIABLES } from './catalog';

const OPERATING = join(__dirname, '../../../../docs/operating.md');

describe('docs/operating.md', () => {
  it('lists exactly the variables of the catalog, with their defaults and meanings', () => {
    const documented = readFileSync(OPERATING, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('| `DAK_'))
      .map((line) =>
        line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      );
    const actual = Object.entries(VARIABLES).map(([name, variable]) => {
      const absent = variable.schema.safeParse(undefined);
      const value = absent.success ? (absent.data as string | number | undefined) : undefined;
      return [
        `\`${name}\``,
        value === undefined ? '' : `\`${value}\``,
        variable.description + ('secret' in variable ? ' (secret)' : ''),
      ];
    });
    expect(documented).toEqual(actual);
  });
});
