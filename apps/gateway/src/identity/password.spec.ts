import { randomBytes } from 'node:crypto';
import { Passwords } from './password';

const ANN = 'ann@x.example';
const secret = randomBytes(32);

describe('stored passwords', () => {
  const passwords = new Passwords(secret);

  it('match the password they were made of, and no other', async () => {
    const stored = await passwords.hash(ANN, 'a long password');
    expect(stored).toMatch(/^\$(argon2id\$v=19|scrypt)\$/);
    expect(await passwords.matches('a long password', [stored])).toEqual([true]);
    expect(await passwords.matches('A long password', [stored])).toEqual([false]);
  });

  it('are found among several of one address, and where there is none yet', async () => {
    const [one, other] = [await passwords.hash(ANN, 'first'), await passwords.hash(ANN, 'second')];
    expect(await passwords.matches('second', [one, null, other, 'nonsense'])).toEqual([
      ...[false, false, true, false],
    ]);
    expect(await passwords.matches('anything', [])).toEqual([]);
  });

  it('do not depend on how a keyboard writes a letter', async () => {
    const stored = await passwords.hash(ANN, 'caf\u00e9 cafe\u0301');
    expect(await passwords.matches('cafe\u0301 caf\u00e9', [stored])).toEqual([true]);
  });

  it('have a salt for each address that nobody without the secret knows', async () => {
    const saltOf = (stored: string) => stored.split('$').at(-2);
    const own = saltOf(await passwords.hash(ANN, 'x'));
    expect(saltOf(await passwords.hash(ANN, 'y'))).toBe(own);
    expect(saltOf(await passwords.hash('bob@x.example', 'x'))).not.toBe(own);
    expect(saltOf(await new Passwords(randomBytes(32)).hash(ANN, 'x'))).not.toBe(own);
  });

  it('are current with the parameters of today and the salt of their address', async () => {
    const stored = await passwords.hash(ANN, 'x');
    expect(passwords.isCurrent(ANN, stored)).toBe(true);
    expect(passwords.isCurrent('bob@x.example', stored)).toBe(false);
    expect(passwords.isCurrent(ANN, stored.replace(/t=\d+|ln=\d+/, 't=1'))).toBe(false);
    expect(passwords.isCurrent(ANN, 'nonsense')).toBe(false);
  });
});
