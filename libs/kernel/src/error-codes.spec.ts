import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_CODES, OPERATING_CODES, PROTOCOL_CODES } from './error-codes';
import { DomainError, InvalidError } from './errors';

const ROOT = join(__dirname, '../../..');
const SOURCES = '{apps,libs}/**/src/**/*.ts';
const NOT_USES = /(\.spec\.ts|error-codes\.ts)$|\/generated\//;

describe('the list of error codes', () => {
  it('has no code that nothing uses', () => {
    const text = globSync(SOURCES, { cwd: ROOT })
      .filter((path) => !NOT_USES.test(path))
      .map((path) => readFileSync(join(ROOT, path), 'utf8'))
      .join('\n');
    expect(listed().filter((code) => !text.includes(`'${code}'`))).toEqual([]);
  });

  it('has codes in snake_case, each explained by a sentence', () => {
    for (const code of listed()) expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
    for (const meaning of meanings()) expect(meaning).toMatch(/^[A-Z].*[^.]\.$/);
  });

  it('does not compile a code that it lacks, or has for another kind', () => {
    // @ts-expect-error There is no such code.
    expect(new InvalidError('x', 'unheard_of').code).toBe('unheard_of');
    // @ts-expect-error This one is a conflict.
    expect(new InvalidError('x', 'too_late').kind).toBe('invalid');
    // @ts-expect-error Likewise for the class below it.
    expect(new DomainError('refused', 'too_late', 'x').kind).toBe('refused');
  });
});

function listed(): string[] {
  const lists = [...Object.values(ERROR_CODES), ...Object.values(OPERATING_CODES), PROTOCOL_CODES];
  return lists.flatMap((codes) => Object.keys(codes));
}

function meanings(): string[] {
  return [
    ...Object.values(ERROR_CODES).flatMap((codes) => Object.values<string>(codes)),
    ...Object.values(OPERATING_CODES).flatMap((codes) => Object.values<string>(codes)),
    ...Object.values(PROTOCOL_CODES).map(({ meaning }) => meaning),
  ];
}
