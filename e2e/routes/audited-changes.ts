import type { Gateway, RouteDescription } from '@dak/gateway';
import { NOUNS } from './nouns';
import type { AuditedChange } from './nouns/noun';
import { merged, routeName, routesOf } from './plain-requests';

const CHANGES = merged(NOUNS.map(({ audited }) => audited));
const VERBS: Readonly<Record<string, string>> = {
  POST: 'created',
  PATCH: 'updated',
  DELETE: 'deleted',
};

/**
 * What a route leaves in the audit log; null for a read that leaves nothing.
 * @throws Error for a change about which neither its noun nor its path says enough
 */
export function auditedChange(route: RouteDescription, gateway: Gateway): AuditedChange | null {
  const known = CHANGES[routeName(route)];
  if (known !== undefined) return known;
  if (route.method === 'GET') return null;
  const collection = /^(.*\/([a-z-]+s))(?:\/\{\w+\})?$/.exec(route.path);
  const isOfRecord = route.path.endsWith('}') !== (route.method === 'POST');
  const verb = VERBS[route.method];
  if (collection === null || !isOfRecord || verb === undefined) return unknown(route);
  const [, path, plural] = collection;
  if (!routesOf(gateway).has(`POST ${path}`)) return unknown(route);
  return { action: `${singular(plural!)}.${verb}` };
}

/** Names of those of which a noun says it. */
export function auditedRouteNames(): string[] {
  return Object.keys(CHANGES);
}

function singular(plural: string): string {
  const word = plural
    .replace(/ies$/, 'y')
    .replace(/(?<=x)es$/, '')
    .replace(/s$/, '');
  return word.replaceAll('-', '_');
}

function unknown(route: RouteDescription): never {
  throw new Error(`What does ${routeName(route)} leave in the audit log? Say so in nouns/`);
}
