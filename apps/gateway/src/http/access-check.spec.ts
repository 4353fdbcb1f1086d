import type { Right } from '@dak/contracts/rights';
import type { Principal } from '@dak/kernel';
import { compileAccess, compileBodyAccess } from './access-check';

const key = { type: 'api_key', role: 'admin', scopes: ['mail.read'] } as unknown as Principal;
const session = { ...key, type: 'session' } as Principal;
const right = (given: Partial<Right>): Right =>
  ({ holder: 'key', scopes: ['mail.read'], ...given }) as Right;
const codeOf = (given: Partial<Right>, principal: Principal): string | null => {
  try {
    compileAccess(right(given))(principal);
    return null;
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe('the access check of a route', () => {
  it.each<[string, Partial<Right>, Principal, string | null]>([
    ['one scope of several suffices', { scopes: ['mail.send', 'mail.read'] }, key, null],
    ['none of the scopes', { scopes: ['mail.send'] }, key, 'missing_scope'],
    ['a scope on top is missing', { also: ['mail.send'] }, key, 'missing_scope'],
    ['a key where a person is needed', { session: true }, key, 'session_required'],
    ['a person where one is needed', { session: true }, session, null],
    ['an admin where one is needed', { role: 'admin' }, key, null],
    [
      'a user where an admin is needed',
      { role: 'admin' },
      { ...key, role: 'user' },
      'missing_role',
    ],
    ['a superadmin for an admin', { role: 'admin' }, { ...key, role: 'superadmin' }, null],
    ['an admin for a superadmin', { role: 'superadmin' }, session, 'superadmin_required'],
    [
      'the key of a superadmin',
      { role: 'superadmin' },
      { ...key, role: 'superadmin' },
      'superadmin_required',
    ],
    ['the session of one', { role: 'superadmin' }, { ...session, role: 'superadmin' }, null],
  ])('%s', (_, given, principal, code) => {
    expect(codeOf(given, principal)).toBe(code);
  });
});

describe('members of a body that need a person', () => {
  const check = compileBodyAccess(
    right({ sessionMembers: [{ member: 'role', unless: 'user' }, { member: 'email' }] as never }),
  )!;

  it('are refused from a key, which names them', () => {
    expect(() => check(key, { role: 'admin' })).toThrow(/^role needs a person/);
    expect(() => check(key, { email: null })).toThrow(/^email needs a person/);
  });

  it('are taken from a session, absent, or with the value that anybody may give', () => {
    expect(() => check(session, { role: 'admin', email: 'a@b.c' })).not.toThrow();
    expect(() => check(key, { role: 'user', name: 'x' })).not.toThrow();
  });

  it('are not looked for where there are none', () => {
    expect(compileBodyAccess(right({}))).toBeNull();
  });
});
