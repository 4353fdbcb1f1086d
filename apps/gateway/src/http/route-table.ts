import { z } from 'zod';
import type { Scope } from '@dak/kernel';
import type { Holder, MailboxLevel, Right, SessionMember } from '@dak/contracts/rights';
import { anyScope, type Method, type RateClass, type Route } from './route';

export const API_BASE = '/api/v1';

/** Path from the site's root, with `{parameters}`. */
export function fullPath(route: Pick<Route, 'base' | 'path'>): string {
  if (route.base === 'site') return route.path;
  return route.path === '/' ? API_BASE : API_BASE + route.path;
}

/** One route as data, for `/capabilities` and the generated test matrix. */
export interface RouteDescription {
  method: Method;
  path: string;
  tag: string;
  summary: string;
  /** `public` needs no credential, `credential` any one, `superadmin` the session of one. */
  access: 'public' | 'credential' | 'superadmin' | 'scopes';
  /** Any one suffices; empty unless `access` is `scopes`. */
  anyOf: readonly Scope[];
  /** Needed on top. */
  also: readonly Scope[];
  holder: Holder;
  /** Needed at the mailbox. */
  level: MailboxLevel | null;
  condition: string | null;
  role: 'admin' | null;
  sessionOnly: boolean;
  /** Members of the body that need a session although the route does not. */
  sessionMembers: readonly SessionMember[];
  rateClass: RateClass;
  bodyKind: Route['bodyKind'];
  idempotent: boolean;
  versioned: boolean;
  /** Statuses of success. */
  statuses: number[];
  /** JSON Schema of the body; null without a JSON body. */
  bodySchema: unknown;
}

export function describeRoutes(routes: readonly Route[]): RouteDescription[] {
  return routes.map((route) => {
    const { right } = route;
    return {
      method: route.method,
      path: fullPath(route),
      tag: route.tag,
      summary: route.summary,
      access: accessOf(right),
      anyOf: anyScope(right),
      also: right.also ?? [],
      holder: right.holder,
      level: right.level ?? null,
      condition: right.condition ?? null,
      role: right.role === 'admin' ? 'admin' : null,
      sessionOnly: right.session ?? false,
      sessionMembers: right.sessionMembers ?? [],
      rateClass: route.rateClass,
      bodyKind: route.bodyKind,
      idempotent: route.idempotency !== 'none',
      versioned: route.versioned,
      statuses: Object.keys(route.responses).map(Number),
      bodySchema:
        route.request.body === undefined
          ? null
          : z.toJSONSchema(route.request.body, { io: 'input', unrepresentable: 'any' }),
    };
  });
}

function accessOf({ scopes, role }: Right): RouteDescription['access'] {
  if (role === 'superadmin') return 'superadmin';
  return typeof scopes === 'string' ? scopes : 'scopes';
}
