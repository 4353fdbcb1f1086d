import { randomUUID } from 'node:crypto';
import type { Gateway, RouteDescription } from '@dak/gateway';
import type { ApiClient, ApiReply } from '@dak/testing/api-client';
import type { Stack } from '../stack/stack';
import type { Tenant, TenantMailbox } from '../stack/tenant';
import { bodyOfSchema } from './body-of-schema';
import { NOUNS } from './nouns';
import type { Noun, Parts, PlainRequest } from './nouns/noun';

export type { PlainRequest } from './nouns/noun';

type RouteName = Pick<RouteDescription, 'method' | 'path'>;

const RECORDS: NonNullable<Noun['records']> = merged(NOUNS.map(({ records }) => records));
const REQUESTS: NonNullable<Noun['requests']> = merged(NOUNS.map(({ requests }) => requests));

/** Conversations that the preparations of one mailbox take away. */
export const STOCK_PER_ROUND = 6;

export function routeName({ method, path }: RouteName): string {
  return `${method} ${path}`;
}

/**
 * A request that the route answers with success, made as the admin in this mailbox: what its noun says of it, the rest
 * of the route table.
 * @throws Error for a route about which neither says enough
 */
export async function plainRequest(
  route: RouteDescription,
  stack: Stack,
  tenant: Tenant,
  mailbox: TenantMailbox,
): Promise<PlainRequest> {
  return prepare(route, { stack, tenant, mailbox, client: tenant.client });
}

/** Names of those of which a noun says something. */
export function namedRoutes(): string[] {
  return Object.keys(REQUESTS);
}

async function prepare(route: RouteDescription, parts: Parts): Promise<PlainRequest> {
  const given = REQUESTS[routeName(route)] ?? {};
  const request = { ...(typeof given === 'function' ? await given(parts) : given) };
  if (route.path.includes('{')) request.params ??= await paramsOf(route.path, parts);
  if (route.bodySchema !== null && request.body === undefined) {
    const isOfMailbox = route.holder === 'mailbox';
    const text = `${isOfMailbox ? `${parts.mailbox.marker} ` : ''}${parts.tenant.unique()}`;
    request.body = bodyOfSchema(route.bodySchema, parts, text, route.method === 'PATCH');
  }
  return request;
}

/** A record of each collection in the path, the outermost first. */
async function paramsOf(path: string, parts: Parts): Promise<Record<string, string>> {
  const params: Record<string, string> = {};
  for (const { 1: name, index } of path.matchAll(/\/\{(\w+)\}/g)) {
    params[name!] = await recordOf(path.slice(0, index), parts, params);
  }
  return params;
}

async function recordOf(
  collection: string,
  parts: Parts,
  parents: Record<string, string>,
): Promise<string> {
  const known = RECORDS[collection];
  if (known !== undefined) return known(parts, parents);
  const making = routesOf(parts.stack.gateway).get(`POST ${collection}`);
  if (making === undefined) {
    throw new Error(
      `Nothing can be posted to ${collection}: say in nouns/ where a record is found`,
    );
  }
  const { stack, tenant } = parts;
  const credential = making.sessionOnly ? tenant.admin.session : tenant.key;
  const request = await prepare(making, parts);
  const { status, body } = await send(stack.client(credential), making, {
    ...request,
    ...(collection.includes('{') && { params: parents }),
  });
  if (status !== 201) throw new Error(`POST ${collection}: ${status} ${JSON.stringify(body)}`);
  return body.id;
}

const tables = new WeakMap<Gateway, ReadonlyMap<string, RouteDescription>>();

/** By name. */
export function routesOf(gateway: Gateway): ReadonlyMap<string, RouteDescription> {
  const known = tables.get(gateway);
  if (known !== undefined) return known;
  const routes = new Map(gateway.routeTable().map((route) => [routeName(route), route]));
  tables.set(gateway, routes);
  return routes;
}

/** The path from the site's root, as `ApiClient` takes it. */
export function pathOf(route: Pick<RouteDescription, 'path'>, request: PlainRequest): string {
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = request.params?.[name];
    if (value === undefined) throw new Error(`${route.path}: nothing for {${name}}`);
    return encodeURIComponent(value);
  });
  const query = new URLSearchParams(request.query).toString();
  return `/${path}${query === '' ? '' : `?${query}`}`;
}

export function send(
  client: ApiClient,
  route: RouteName,
  request: PlainRequest,
  headers: Record<string, string> = {},
): Promise<ApiReply> {
  return client.call(route.method, pathOf(route, request), {
    ...(request.body === undefined ? {} : { body: request.body }),
    headers: { ...request.headers, ...headers },
  });
}

/** An id that no record has. */
export function missingId(): string {
  return randomUUID();
}

/** @throws Error for what is said twice */
export function merged<T>(records: readonly (Readonly<Record<string, T>> | undefined)[]) {
  const all: Record<string, T> = {};
  for (const [name, value] of records.flatMap((record) => Object.entries(record ?? {}))) {
    if (name in all) throw new Error(`${name} is said twice`);
    all[name] = value;
  }
  return all;
}
