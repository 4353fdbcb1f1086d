import { z } from 'zod';
import { SCOPES, type Principal, type Scope } from '@dak/kernel';
import { EVENT_KINDS } from '@dak/contracts/events';
import { DEFAULT_PER_PAGE, EXACT_TOTAL_LIMIT, MAX_PER_PAGE } from '@dak/platform/paging';
import { defineRoute, type Route } from '../http';
import { JSON_BODY_LIMIT } from '../http/request-body';
import { describeRoutes, type RouteDescription } from '../http/route-table';
import type { RateLimits } from '../http/rate-limiter';

/** Limits of the services, each a number; named with its unit. */
export type ServiceLimits = Readonly<Record<string, number>>;

export interface CapabilitiesOptions {
  /** All routes, the one of this file included. */
  routes: () => readonly Route[];
  rateLimits: RateLimits;
  serviceLimits: ServiceLimits;
}

const operation = z.object({
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  path: z.string(),
  summary: z.string(),
  scopes: z.array(z.enum(SCOPES)).meta({ description: 'Any one suffices' }),
  scopes_also: z.array(z.enum(SCOPES)).meta({ description: 'All of these are required as well' }),
  mailbox_access: z
    .enum(['read', 'write', 'send'])
    .nullable()
    .meta({ description: 'The access level required at the mailbox' }),
  role: z.enum(['admin', 'superadmin']).nullable(),
  session_only: z.boolean(),
  granted: z.boolean().meta({ description: 'Whether the caller may use it' }),
});

const Capabilities = z
  .object({
    scopes: z.object({ granted: z.array(z.enum(SCOPES)), all: z.array(z.enum(SCOPES)) }),
    limits: z.record(z.string(), z.number()),
    resources: z.array(
      z.object({
        resource: z.string(),
        operations: z.array(operation),
        scopes: z.array(z.enum(SCOPES)),
      }),
    ),
    mcp: z.object({ tools: z.array(z.record(z.string(), z.unknown())) }),
    events: z.array(z.string()),
  })
  .meta({ id: 'Capabilities' });

/** GET `/capabilities`: derived from the route table, so it lists only what exists. */
export function capabilitiesRoute(options: CapabilitiesOptions): Route {
  let descriptions: readonly RouteDescription[] | null = null;
  return defineRoute({
    method: 'GET',
    path: '/capabilities',
    summary: "Get the caller's capabilities",
    tag: 'meta',
    responses: { 200: { description: 'What the caller may do', schema: Capabilities } },
    handler: ({ principal }) => {
      descriptions ??= describeRoutes(options.routes());
      return {
        status: 200,
        body: {
          scopes: { granted: principal.scopes, all: SCOPES },
          limits: {
            reads_per_minute: options.rateLimits.readsPerMinute,
            writes_per_minute: options.rateLimits.writesPerMinute,
            default_per_page: DEFAULT_PER_PAGE,
            max_per_page: MAX_PER_PAGE,
            exact_total_limit: EXACT_TOTAL_LIMIT,
            json_body_bytes: JSON_BODY_LIMIT,
            idempotency_key_characters: 256,
            idempotency_hours: 24,
            ...options.serviceLimits,
          },
          resources: resources(descriptions, principal),
          mcp: { tools: [] },
          events: EVENT_KINDS,
        },
      };
    },
  });
}

function resources(descriptions: readonly RouteDescription[], principal: Principal) {
  const byTag = new Map<string, RouteDescription[]>();
  for (const description of descriptions) {
    if (description.access === 'public') continue;
    const list = byTag.get(description.tag) ?? [];
    byTag.set(description.tag, list);
    list.push(description);
  }
  return [...byTag].map(([resource, list]) => ({
    resource,
    operations: list.map((description) => ({
      method: description.method,
      path: description.path,
      summary: description.summary,
      scopes: description.anyOf,
      scopes_also: description.also,
      mailbox_access: description.level,
      role: description.access === 'superadmin' ? 'superadmin' : description.role,
      session_only: description.sessionOnly,
      granted: isGranted(description, principal),
    })),
    scopes: [...new Set(list.flatMap((description) => description.anyOf))],
  }));
}

function isGranted(route: RouteDescription, principal: Principal): boolean {
  if (route.sessionOnly && principal.type !== 'session') return false;
  if (route.access === 'superadmin') return principal.role === 'superadmin';
  if (route.role === 'admin' && principal.role === 'user') return false;
  const has = (scope: Scope): boolean => principal.scopes.includes(scope);
  return (route.anyOf.length === 0 || route.anyOf.some(has)) && route.also.every(has);
}
