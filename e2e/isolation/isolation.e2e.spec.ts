import { SCOPES, type Scope } from '@dak/kernel';
import type { RouteDescription } from '@dak/gateway';
import { timePasses } from '@dak/testing/waiting';
import { askLikeAMiss } from './ask-like-a-miss';
import { ForeignData, idsOf, rewritten } from './foreign-data';
import {
  missingId,
  plainRequest,
  routeName,
  send,
  STOCK_PER_ROUND,
  type PlainRequest,
} from '../routes/plain-requests';
import { startStack, type Stack } from '../stack/stack';
import { createKey, createTenant, superadminSession, type Tenant } from '../stack/tenant';

const VICTIM = 'markvictim';
const CLOSED = `${VICTIM}-closed`;

interface Case {
  route: RouteDescription;
  name: string;
  /** Prepared by the victim, in a mailbox that its member does not see. */
  request: PlainRequest;
}

/**
 * Every route of the table against everybody who must not get through, with one and the same request,
 * which at the end its owner sends with success: so what was refused was refused for who asked, and
 * none of it did any harm.
 */
describe('every route', () => {
  let stack: Stack;
  let victim: Tenant;
  let outsider: Tenant;
  let superadmin: string;
  let cases: Case[];

  beforeAll(async () => {
    stack = await startStack();
    victim = await createTenant(stack, VICTIM, STOCK_PER_ROUND);
    outsider = await createTenant(stack, 'markoutsider', STOCK_PER_ROUND);
    superadmin = await superadminSession(stack);
    cases = [];
    for (const route of stack.gateway.routeTable()) {
      const request = await plainRequest(route, stack, victim, victim.closed);
      cases.push({ route, name: routeName(route), request });
    }
  }, 60_000);
  afterAll(async () => {
    await stack.close();
  });

  const guarded = (): Case[] => cases.filter(({ route }) => route.access !== 'public');
  /** Whoever asks knows their own people: only the record asked for is another's. */
  const toOwnPeople = (people: readonly string[]): Map<string, string> =>
    new Map(peopleOf(victim).map((id, index) => [id, people[index]!]));
  const credentialFor = (route: RouteDescription): string =>
    route.access === 'superadmin'
      ? superadmin
      : route.sessionOnly
        ? victim.admin.session
        : victim.key;

  it('refuses no, malformed, unknown, revoked and expired credentials with 401', async () => {
    const asAdmin = stack.client(victim.admin.session);
    const revoked = await createKey(asAdmin, 'revoked', SCOPES);
    await asAdmin.delete(`/settings/api-keys/${revoked.id}`);
    const ends = Date.now() + 300;
    const expired = await createKey(asAdmin, 'expired', SCOPES, new Date(ends).toISOString());
    await timePasses(ends + 20 - Date.now());
    const [header, , signature] = victim.admin.session.split('.');
    const forged = Buffer.from(JSON.stringify({ sub: victim.admin.id })).toString('base64url');
    const credentials = {
      none: undefined,
      malformed: 'svc_live_nonsense',
      altered: victim.key.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a')),
      unknown: `svc_live_${'0'.repeat(49)}`,
      revoked: revoked.key,
      expired: expired.key,
      'forged session': `${header}.${forged}.${signature}`,
      'session of no algorithm': `${Buffer.from('{"alg":"none"}').toString('base64url')}.${forged}.`,
    };
    const seen = new ForeignData(VICTIM);
    const wrong: unknown[] = [];
    for (const [label, credential] of Object.entries(credentials)) {
      for (const { route, name, request } of guarded()) {
        const reply = await send(stack.client(credential), route, request);
        seen.note(`${name} with ${label}`, request, reply);
        if (reply.status !== 401) wrong.push([label, name, reply.status]);
      }
    }
    expect(wrong).toEqual([]);
    expect(seen.leaks(await idsOf(stack, victim.organizationId))).toEqual([]);
  }, 60_000);

  it('refuses a key of the owner without its scopes with 403, and names them', async () => {
    const asAdmin = stack.client(victim.admin.session);
    const keys = new Map<string, string>();
    const seen = new ForeignData(VICTIM);
    const wrong: unknown[] = [];
    for (const { route, name, request } of guarded()) {
      if (route.access !== 'scopes') continue;
      const needed = route.anyOf.join(' or ');
      const others = SCOPES.filter((scope) => !route.anyOf.includes(scope));
      if (!keys.has(needed)) keys.set(needed, (await createKey(asAdmin, 'others', others)).key);
      const reply = await send(stack.client(keys.get(needed)), route, request);
      seen.note(name, request, reply);
      const isNamed = reply.body.error.includes(needed) || route.sessionOnly;
      if (reply.status !== 403 || !isNamed) wrong.push([name, reply.status, reply.body]);
    }
    expect(wrong).toEqual([]);
    expect(seen.leaks(await idsOf(stack, victim.organizationId))).toEqual([]);
  });

  it('refuses the wrong role with 403', async () => {
    const seen = new ForeignData(VICTIM);
    const wrong: unknown[] = [];
    for (const { route, name, request } of guarded()) {
      const credentials =
        route.access === 'superadmin'
          ? [victim.key, victim.admin.session, victim.member.session, victim.restrictedKey]
          : route.role === null
            ? []
            : [victim.member.session, victim.restrictedKey];
      for (const credential of credentials) {
        const reply = await send(stack.client(credential), route, request);
        seen.note(name, request, reply);
        if (reply.status !== 403) wrong.push([name, reply.status, reply.body]);
      }
    }
    expect(wrong).toEqual([]);
    expect(seen.leaks(await idsOf(stack, victim.organizationId))).toEqual([]);
  });

  it('answers the admin and the superadmin of another organization as if nothing were there', async () => {
    const seen = new ForeignData(VICTIM);
    const wrong: unknown[] = [];
    const platform = stack.seed.superadmin.id;
    for (const [credential, people] of [
      [outsider.key, peopleOf(outsider)],
      [outsider.admin.session, peopleOf(outsider)],
      [superadmin, [platform, platform, missingId()]],
    ] as const) {
      for (const { route, name, request } of guarded()) {
        if (route.holder === 'platform' || (route.sessionOnly && credential === outsider.key))
          continue;
        const asked = rewritten(request, toOwnPeople(people).set(VICTIM, 'markforged'));
        const verdict = await askLikeAMiss(stack.client(credential), route, asked, seen, people);
        const isExpected =
          route.path.includes('{') && verdict.status !== 404 ? 'must be 404' : verdict.problem;
        if (isExpected !== null) wrong.push([name, verdict.status, isExpected]);
      }
    }
    expect(wrong).toEqual([]);
    // That the organization exists, its name, domain and who administers it is the superadmin's business.
    const known = [`${VICTIM}-works`, victim.domain, victim.organizationId, victim.admin.id];
    expect(seen.leaks(await idsOf(stack, victim.organizationId), known)).toEqual([]);
  }, 60_000);

  it('answers a member and a restricted key without the mailbox as if nothing were there', async () => {
    const seen = new ForeignData(CLOSED);
    const wrong: unknown[] = [];
    for (const credential of [victim.member.session, victim.restrictedKey]) {
      const { body } = await stack.client(credential).get('/');
      expect(body.principal.mailbox_ids).toEqual([victim.open.id]);
      const isGranted = (scope: Scope): boolean => body.principal.scopes.includes(scope);
      for (const { route, name, request } of guarded()) {
        const isScoped = route.access !== 'scopes' || route.anyOf.some(isGranted);
        const mayNot = !isScoped || (route.sessionOnly && credential === victim.restrictedKey);
        // What belongs to the organization as a whole is the member's, too.
        const isOwn = ['organization', 'author'].includes(route.holder) && route.path.includes('{');
        if (route.holder === 'platform' || (isOwn && !mayNot)) continue;
        const asked = rewritten(request, new Map([[VICTIM, 'markmember']]));
        const verdict = await askLikeAMiss(
          stack.client(credential),
          route,
          asked,
          seen,
          peopleOf(victim),
        );
        const expected = mayNot ? 403 : route.path.includes('{') ? 404 : null;
        const isExpected = expected === null || verdict.status === expected;
        if (!isExpected || verdict.problem !== null) wrong.push([name, verdict]);
      }
    }
    expect(wrong).toEqual([]);
    const ids = await idsOf(stack, victim.organizationId, victim.closed.id);
    expect(ids.size).toBeGreaterThan(10);
    expect(seen.leaks(ids.add(victim.closed.id))).toEqual([]);
  }, 60_000);

  it('does not find a record under a parent that is another', async () => {
    const wrong: unknown[] = [];
    for (const { route, name, request } of guarded()) {
      const names = Object.keys(request.params ?? {});
      if (names.length < 2 || route.holder !== 'mailbox') continue;
      for (const [tenant, mailbox, credential] of [
        [outsider, outsider.open, outsider.key],
        [victim, victim.open, victim.member.session],
      ] as const) {
        const own = await plainRequest(route, stack, tenant, mailbox);
        for (const mix of mixtures(own.params!, request.params!)) {
          const reply = await send(stack.client(credential), route, { ...own, params: mix });
          if (reply.status !== 404) wrong.push([name, mix, reply.status]);
        }
        expect(route.statuses).toContain((await send(stack.client(credential), route, own)).status);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('opens no link that was altered or made for something else', async () => {
    const tickets = cases.filter(({ request }) => request.params?.['ticket'] !== undefined);
    expect(tickets).toHaveLength(2);
    const texts = tickets.map(({ request }) => request.params!['ticket']!);
    for (const { route, request } of tickets) {
      const own = request.params!['ticket']!;
      const altered = own.replace(/^.{20}./, (head) => head.slice(0, -1) + flip(head.at(-1)!));
      for (const ticket of [altered, own.slice(0, -1), ...texts.filter((text) => text !== own)]) {
        const reply = await send(stack.client(), route, { ...request, params: { ticket } });
        expect([routeName(route), reply.status]).toEqual([routeName(route), 404]);
      }
    }
  });

  it('does for its owner what it did for none of the others, and replays it for nobody else', async () => {
    const seen = new ForeignData(VICTIM);
    const wrong: unknown[] = [];
    for (const { route, name, request } of cases) {
      const owner = route.access === 'public' ? undefined : credentialFor(route);
      const headers = { 'Idempotency-Key': `owner-${name.length}-${missingId()}` };
      const reply = await send(stack.client(owner), route, request, headers);
      if (!route.statuses.includes(reply.status)) wrong.push([name, reply.status, reply.body]);
      if (!route.idempotent || route.holder === 'platform') continue;
      for (const credential of [outsider.key, victim.member.session]) {
        const repeated = await send(stack.client(credential), route, request, headers);
        if (repeated.headers.has('idempotency-replayed')) wrong.push([name, 'replayed']);
        if (credential === outsider.key) seen.note(name, request, repeated);
      }
    }
    expect(wrong).toEqual([]);
    expect(seen.leaks(await idsOf(stack, victim.organizationId))).toEqual([]);
    expect(stack.failures).toEqual([]);
  }, 60_000);
});

function peopleOf({ admin, member, departmentId }: Tenant): string[] {
  return [admin.id, member.id, departmentId];
}

/** All ways to take some, but not all, parameters from `others`. */
function mixtures(
  own: Record<string, string>,
  others: Record<string, string>,
): Record<string, string>[] {
  const names = Object.keys(own);
  return Array.from({ length: 2 ** names.length - 2 }, (_, i) =>
    Object.fromEntries(
      names.map((name, bit) => [name, (((i + 1) >> bit) & 1) === 1 ? others[name]! : own[name]!]),
    ),
  );
}

function flip(character: string): string {
  return character === 'A' ? 'B' : 'A';
}
