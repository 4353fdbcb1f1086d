import { statementName } from './statement-name';

describe('statementName', () => {
  it('gives a text one name, and texts put together without end none', () => {
    const name = statementName('select $1');
    expect(name).not.toBe('');
    for (let i = 0; i < 1_000; i += 1) statementName(`select $1 + ${i}`);
    expect(statementName('select $1')).toBe(name);
    expect(statementName('select $1 - 1')).toBe('');
  });
});
