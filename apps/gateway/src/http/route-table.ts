import { z } from 'zod';
import type { Scope } from '@dak/kernel';
import { scopeRule, type Method, type RateClass, type Route } from './route';

export const API_BASE = '/api/v1';

/** Path from the site's root, with `{parameters}`. */
export function fullPath(route: Pick<Route, 'base' | 'path'>): string {
  if (route.base === 'site') return route.path;
  return route.path === '/' ? API_BASE : API_BASE + route.path;
}

/** One route as data: what `/capabilities` tells and the generated test matrix walks over. */
export interface RouteDescription {
  method: Method;
  path: string;
  tag: string;
  summary: string;
  /** `public` needs no credential; `superadmin` the session of one. */
  access: 'public' | 'superadmin' | 'scopes';
  /** Any one suffices; empty unless `access` is `scopes`. */
  anyOf: readonly Scope[];
  role: 'admin' | null;
  sessionOnly: boolean;
  rateClass: RateClass;
  bodyKind: Route['bodyKind'];
  idempotent: boolean;
  versioned: boolean;
  /** Of success. */
  statuses: number[];
  /** JSON Schema of the body; null without a JSON body. */
  bodySchema: unknown;
}

export function describeRoutes(routes: readonly Route[]): RouteDescription[] {
  return routes.map((route) => {
    const rule = scopeRule(route.scopes);
    return {
      method: route.method,
      path: fullPath(route),
      tag: route.tag,
      summary: route.summary,
      access:
        rule !== null ? 'scopes' : route.scopes === 'public' ? 'public' : ('superadmin' as const),
      anyOf: rule?.anyOf ?? [],
      role: rule?.role ?? null,
      sessionOnly: rule === null ? route.scopes !== 'public' : (rule.sessionOnly ?? false),
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
