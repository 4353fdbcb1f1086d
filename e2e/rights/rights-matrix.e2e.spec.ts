import { SCOPES, type Scope } from '@dak/kernel';
import type { RouteDescription } from '@dak/gateway';
import type { ApiClient } from '@dak/testing/api-client';
import {
  plainRequest,
  routeName,
  send,
  STOCK_PER_ROUND,
  type PlainRequest,
} from '../routes/plain-requests';
import { startStack, type Stack } from '../stack/stack';
import { createKey, createTenant, signIn, superadminSession, type Tenant } from '../stack/tenant';

const LEVELS = ['read', 'write', 'send'] as const;
/** Callers for whom each action is prepared afresh, at most. */
const ROUNDS = 9;

/** What the plain request asks for besides. */
const OF_BODY: Readonly<Record<string, readonly Scope[]>> = {
  // A key gives what it has.
  'POST /api/v1/settings/api-keys': ['mail.read'],
};

/** What the rights table says about a caller and an action. */
type Expected =
  /** A status of success. */
  | 'allowed'
  | 401
  | 403
  | 404
  /** Nothing in the path names the record: a list leaves it out, and a body that names it is refused. */
  | 'not there'
  /** Another organization's: the isolation of tenants has its own suite. */
  | 'elsewhere';

interface Caller {
  readonly name: string;
  readonly credential: string | undefined;
  readonly expected: (route: RouteDescription) => Expected;
}

/**
 * The rights table against the running services: every action for everybody who differs in what the
 * table knows of, with a request that its owner sends with success.
 */
describe('the rights table', () => {
  let stack: Stack;
  let tenant: Tenant;
  let asAdmin: ApiClient;
  let routes: RouteDescription[];
  let people: Caller[];

  beforeAll(async () => {
    stack = await startStack();
    tenant = await createTenant(stack, 'matrixworks', STOCK_PER_ROUND * ROUNDS);
    asAdmin = stack.client(tenant.admin.session);
    routes = stack.gateway.routeTable().filter(({ access }) => access !== 'public');
    const department = (await asAdmin.post('/departments', { name: 'Matrix' })).body.id as string;
    const person = async (name: string, departments: string[] = []) => {
      const { body } = await asAdmin.post('/settings/users', {
        email: `${name}@matrixworks.example`,
        display_name: name,
        department_ids: departments,
        password: 'a long enough password',
      });
      return signIn(stack, body);
    };
    const assigned = await Promise.all(LEVELS.map((level) => person(level)));
    await asAdmin.put(`/mailboxes/${tenant.open.id}/assignments`, {
      users: assigned.map(({ id }, index) => ({ user_id: id, access: LEVELS[index] })),
      department_ids: [department],
    });
    const scopes = await scopesOf((await person('nobody')).session);
    people = [
      {
        name: 'a user without the mailbox',
        credential: (await signIn(stack, { id: '', email: 'nobody@matrixworks.example' })).session,
        expected: (route) => ofUser(route, scopes, null),
      },
      ...assigned.map(({ session }, index) => ({
        name: `a user with the level ${LEVELS[index]}`,
        credential: session,
        expected: (route: RouteDescription) => ofUser(route, scopes, LEVELS[index]!),
      })),
      {
        name: 'a member of the department of the mailbox',
        credential: (await person('colleague', [department])).session,
        expected: (route) => ofUser(route, scopes, 'send'),
      },
      { name: 'an admin', credential: tenant.admin.session, expected: ofAdmin },
      {
        name: 'a superadmin',
        credential: await superadminSession(stack),
        expected: ({ holder }) => (holder === 'platform' ? 'allowed' : 'elsewhere'),
      },
    ];
  }, 60_000);
  afterAll(async () => {
    await stack.close();
  });

  async function scopesOf(session: string): Promise<Scope[]> {
    return (await stack.client(session).get('/')).body.principal.scopes as Scope[];
  }

  const prepare = (route: RouteDescription): Promise<PlainRequest> =>
    plainRequest(route, stack, tenant, tenant.open);

  async function mismatch(
    route: RouteDescription,
    { name, credential }: Pick<Caller, 'name' | 'credential'>,
    expected: Expected,
    request: PlainRequest,
  ): Promise<string[]> {
    const reply = await send(stack.client(credential), route, request);
    return isAs(expected, reply.status, route)
      ? []
      : [
          `${routeName(route)} as ${name}: ${reply.status} instead of ${expected} ${JSON.stringify(reply.body).slice(0, 200)}`,
        ];
  }

  it('refuses whoever brings no credential, one that was revoked, or a key that lacks a scope', async () => {
    const revoked = await createKey(asAdmin, 'revoked', SCOPES);
    await asAdmin.delete(`/settings/api-keys/${revoked.id}`);
    const keys = new Map<string, string>();
    const keyOf = async (scopes: readonly Scope[]): Promise<string> => {
      const name = scopes.join(' ');
      if (!keys.has(name)) keys.set(name, (await createKey(asAdmin, 'matrix', scopes)).key);
      return keys.get(name)!;
    };
    const wrong: string[] = [];
    for (const route of routes) {
      const request = await prepare(route);
      const callers: [string, string | undefined, Expected][] = [
        ['nobody', undefined, 401],
        ['a revoked key', revoked.key, 401],
      ];
      const lists = [
        ...(route.anyOf.length === 0 ? [] : [route.anyOf]),
        ...route.also.map((one) => [one]),
      ];
      for (const missing of lists) {
        const others = SCOPES.filter((scope) => !missing.includes(scope));
        callers.push([`a key without ${missing.join(', ')}`, await keyOf(others), 403]);
      }
      if (route.sessionOnly) callers.push(['a key with all scopes', tenant.key, 403]);
      for (const [name, credential, expected] of callers) {
        wrong.push(...(await mismatch(route, { name, credential }, expected, request)));
      }
    }
    expect(wrong).toEqual([]);
  }, 60_000);

  it('lets a key with exactly the scopes do it', async () => {
    const wrong: string[] = [];
    for (const route of routes) {
      if (route.sessionOnly) continue;
      const [one] = route.anyOf;
      const scopes = [
        ...(one === undefined ? [] : [one]),
        ...route.also,
        ...(OF_BODY[routeName(route)] ?? []),
      ];
      if (scopes.length === 0) continue;
      const { key: credential } = await createKey(asAdmin, 'exact', [...new Set(scopes)]);
      const name = `a key with ${scopes.join(' and ')}`;
      const request = await prepare(route);
      wrong.push(...(await mismatch(route, { name, credential }, 'allowed', request)));
    }
    expect(wrong).toEqual([]);
  }, 60_000);

  it('lets people do what their role, their assignments and what they made allow', async () => {
    const wrong: string[] = [];
    for (const route of routes) {
      // Whoever is refused changes nothing: one request serves all of them.
      let request = await prepare(route);
      for (const caller of people) {
        const expected = caller.expected(route);
        if (expected === 'elsewhere') continue;
        wrong.push(...(await mismatch(route, caller, expected, request)));
        if (expected === 'allowed' && route.method !== 'GET') request = await prepare(route);
      }
    }
    expect(wrong).toEqual([]);
    expect(stack.failures).toEqual([]);
  }, 90_000);
});

function ofUser(
  route: RouteDescription,
  scopes: readonly Scope[],
  level: (typeof LEVELS)[number] | null,
): Expected {
  const has = (scope: Scope): boolean => scopes.includes(scope);
  if (route.access === 'superadmin' || route.role === 'admin') return 403;
  if (route.anyOf.length > 0 && !route.anyOf.some(has)) return 403;
  if (!route.also.every(has)) return 403;
  const namesRecord = route.path.includes('{');
  switch (route.holder) {
    case 'author':
      return 403;
    case 'maker':
    case 'self':
      // It is the admin's; what is not there yet becomes the caller's.
      if (namesRecord) return 404;
      return level === 'send' ? 'allowed' : 'not there';
    case 'mailbox':
      if (level === null) return namesRecord ? 404 : 'not there';
      if (LEVELS.indexOf(level) >= LEVELS.indexOf(route.level ?? 'read')) return 'allowed';
      return namesRecord ? 403 : 'not there';
    default:
      return 'allowed';
  }
}

function ofAdmin({ access }: RouteDescription): Expected {
  return access === 'superadmin' ? 403 : 'allowed';
}

function isAs(expected: Expected, status: number, route: RouteDescription): boolean {
  const isSuccess = route.statuses.includes(status);
  if (expected === 'allowed') return isSuccess;
  if (expected !== 'not there') return status === expected;
  return isSuccess || [400, 403, 404, 409, 422].includes(status);
}
