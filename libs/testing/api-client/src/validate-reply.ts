import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';

type JsonSchema = Record<string, unknown>;

/** The part of the gateway's route table needed to find a reply's route. */
interface KnownRoute {
  method: string;
  /** From the site's root, with `{parameters}`. */
  path: string;
}

/** Paths of the document are relative to it. */
const API_BASE = '/api/v1';

interface ObservedReply {
  status: number;
  headers: Headers;
  body: unknown;
}

/** Throws when a reply is not one that the OpenAPI document describes. */
export type ReplyValidator = (method: string, path: string, reply: ObservedReply) => void;

const STANDARD_HEADERS = [
  'x-request-id',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  'ratelimit-policy',
];

/**
 * Holds replies against a document with closed objects: status, headers and body, so that an
 * undocumented member, a missing one or a status that no client expects fails the test that saw it.
 */
export function replyValidator(
  document: JsonSchema,
  routes: readonly KnownRoute[],
): ReplyValidator {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats(ajv);
  ajv.addSchema({ $id: 'openapi', ...document });
  const compiled = new Map<string, ValidateFunction>();
  const matchers = routes.map((route) => ({
    route,
    pattern: new RegExp(
      `^${route.path.replaceAll(/[.]/g, '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}/?$`,
    ),
  }));

  return (method, path, reply) => {
    const bare = path.split('?')[0]!;
    const where = `${method} ${bare} → ${reply.status}`;
    if (['/healthz', '/readyz', '/metrics'].includes(bare)) return;
    checkHeaders(where, reply);
    if (reply.status >= 400) checkError(where, reply);
    const candidates = matchers.filter(
      ({ route, pattern }) => route.method === method && pattern.test(bare),
    );
    const match = candidates.find(({ route }) => !route.path.includes('{')) ?? candidates[0];
    if (match === undefined) return;
    const pointer = responsePointer(document, match.route, reply.status);
    if (pointer === null) throw new Error(`${where} is not documented`);
    const response = lookUp(document, pointer) as { content?: Record<string, { schema: unknown }> };
    const type = reply.headers.get('content-type')?.split(';')[0] ?? '';
    if (response.content === undefined) {
      if (reply.body !== undefined) throw new Error(`${where} has an undocumented body`);
      return;
    }
    if (!(type in response.content)) throw new Error(`${where} has the undocumented type ${type}`);
    if (!type.includes('json')) return;
    const reference = `openapi#${pointer}/content/${escapePointer(type)}/schema`;
    let validate = compiled.get(reference);
    if (validate === undefined) {
      validate = ajv.compile({ $ref: encodeURI(reference) });
      compiled.set(reference, validate);
    }
    if (!validate(reply.body)) {
      throw new Error(
        `${where} is not as documented: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(reply.body).slice(0, 2000)}`,
      );
    }
  };
}

function checkHeaders(where: string, { headers }: ObservedReply): void {
  const missing = STANDARD_HEADERS.filter((name) => !headers.has(name));
  if (missing.length > 0) throw new Error(`${where} lacks the headers ${missing.join(', ')}`);
  if (headers.has('x-powered-by')) throw new Error(`${where} tells what it runs on`);
}

function checkError(where: string, { headers, body }: ObservedReply): void {
  if (!/^[a-z][a-z0-9_]*$/.test(headers.get('x-error-code') ?? '')) {
    throw new Error(`${where} has no X-Error-Code`);
  }
  if (headers.get('content-type')?.startsWith('application/problem+json')) return;
  const isOneField =
    typeof body === 'object' &&
    body !== null &&
    Object.keys(body).join() === 'error' &&
    typeof (body as { error: unknown }).error === 'string';
  if (!isOneField) {
    throw new Error(`${where} has another error body: ${JSON.stringify(body)}`);
  }
}

function responsePointer(document: JsonSchema, route: KnownRoute, status: number): string | null {
  const paths = document['paths'] as Record<string, Record<string, { responses: JsonSchema }>>;
  const relative = route.path.startsWith(API_BASE) ? route.path.slice(API_BASE.length) : route.path;
  const path = relative === '' ? '/' : relative;
  const response = paths[path]?.[route.method.toLowerCase()]?.responses[status] as
    { $ref?: string } | undefined;
  if (response === undefined) return null;
  if (response.$ref !== undefined) return response.$ref.slice(1);
  return `/paths/${escapePointer(path)}/${route.method.toLowerCase()}/responses/${status}`;
}

function lookUp(document: JsonSchema, pointer: string): unknown {
  return pointer
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((at, part) => (at as JsonSchema)[part], document);
}

function escapePointer(part: string): string {
  return part.replaceAll('~', '~0').replaceAll('/', '~1');
}
