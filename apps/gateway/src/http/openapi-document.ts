import type { z } from 'zod';
import { SchemaWriter, type JsonSchema } from './json-schema';
import { operationId, OperationLinks } from './openapi-links';
import { anyScope, type Route } from './route';
import { API_BASE } from './route-table';

export interface OpenApiOptions {
  version: string;
  /** Refuse members that a reply's schema does not name; the published document allows them. */
  closeObjects?: boolean;
}

const ERRORS: Readonly<Record<number, readonly [name: string, description: string]>> = {
  400: ['BadRequest', 'Malformed or invalid request'],
  401: ['Unauthenticated', 'Credentials are missing, unknown, expired or revoked'],
  403: ['Forbidden', 'The scope or role is missing'],
  404: ['NotFound', 'Not there, or not visible to the caller'],
  408: ['RequestTimeout', 'The body came too slowly'],
  409: ['Conflict', 'Against the current state, a duplicate, or still running'],
  412: ['PreconditionFailed', 'Another version than If-Match names'],
  413: ['TooLarge', 'The body is too large'],
  415: ['UnsupportedMediaType', 'Another Content-Type is needed'],
  422: ['Refused', 'Well-formed, but a rule refuses it'],
  429: ['RateLimited', 'Too many requests: wait for Retry-After'],
  500: ['Internal', 'A fault on our side'],
  503: ['Unavailable', 'Shedding load, or a dependency is down: wait for Retry-After'],
};

const REPLY_HEADERS: Readonly<Record<string, readonly [description: string, type: string]>> = {
  'X-Request-Id': ['ID of the request; generated if the request carried none', 'string'],
  'RateLimit-Limit': ['Requests of this class allowed per window', 'integer'],
  'RateLimit-Remaining': ['Requests left', 'integer'],
  'RateLimit-Reset': ['Seconds until all are available again', 'integer'],
  'RateLimit-Policy': ['Limit and window in seconds, such as 600;w=60', 'string'],
};

/** The OpenAPI 3.1.0 document of the routes. */
export function openApiDocument(routes: readonly Route[], options: OpenApiOptions): JsonSchema {
  const writer = new SchemaWriter(options.closeObjects ?? false);
  const links = new OperationLinks(routes);
  const paths: Record<string, JsonSchema> = {};
  for (const route of routes) {
    const item = (paths[route.path] ??= route.base === 'site' ? { servers: [{ url: '/' }] } : {});
    item[route.method.toLowerCase()] = operation(route, writer, links);
  }
  const tags = [...new Set(routes.map((route) => route.tag))];
  return {
    openapi: '3.1.0',
    info: {
      title: 'Dak',
      version: options.version,
      description:
        'Shared mailboxes for people and AI agents. Errors are `{"error": "<sentence>"}` with a stable code in `X-Error-Code`, or RFC 9457 problems with `Accept: application/problem+json`.',
    },
    servers: [{ url: API_BASE }],
    tags: tags.map((name) => ({ name })),
    paths,
    components: {
      schemas: {
        Error: {
          type: 'object',
          properties: {
            error: { type: 'string', description: 'A sentence that names the field and the fix' },
          },
          required: ['error'],
          additionalProperties: false,
        },
        Problem: {
          type: 'object',
          description: 'RFC 9457',
          properties: Object.fromEntries(
            ['type', 'title', 'detail', 'instance', 'code'].map((name) => [
              name,
              { type: 'string' },
            ]),
          ),
          required: ['type', 'title', 'detail', 'code'],
        },
        ...writer.components,
      },
      responses: Object.fromEntries(
        Object.values(ERRORS).map(([name, text]) => [name, errorReply(text)]),
      ),
      headers: Object.fromEntries(
        Object.entries(REPLY_HEADERS).map(([name, [description, type]]) => [
          name,
          { description, schema: { type } },
        ]),
      ),
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'svc_live_…',
          description: 'API key as bearer token',
        },
        apiKeyHeader: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        session: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'Token from POST /auth/login',
        },
      },
    },
    security: [{ apiKey: [] }, { apiKeyHeader: [] }, { session: [] }],
  };
}

function operation(route: Route, writer: SchemaWriter, links: OperationLinks): JsonSchema {
  const { right } = route;
  const isPublic = right.scopes === 'public';
  return {
    operationId: operationId(route),
    summary: route.summary,
    ...described(route),
    tags: [route.tag],
    ...(isPublic
      ? { security: [] }
      : right.session === true
        ? { security: [{ session: [] }] }
        : {}),
    ...(typeof right.scopes === 'string' ? {} : { 'x-scopes': anyScope(right) }),
    ...(right.also === undefined ? {} : { 'x-scopes-also': right.also }),
    ...(right.role === undefined ? {} : { 'x-role': right.role }),
    ...(right.level === undefined ? {} : { 'x-mailbox-access': right.level }),
    ...(route.emits === undefined ? {} : { 'x-emits': route.emits }),
    parameters: parameters(route, writer),
    ...requestBody(route, writer),
    responses: { ...successes(route, writer, links), ...failures(route) },
  };
}

/** The route's description, followed by the condition of its right. */
function described({ description, right }: Route): { description?: string } {
  const texts = [description, right.condition].filter((text) => text !== undefined);
  return texts.length === 0 ? {} : { description: texts.join(' ') };
}

function parameters(route: Route, writer: SchemaWriter): JsonSchema[] {
  const list = [
    ...fields(route.request.params, 'path', writer),
    ...fields(route.request.query, 'query', writer),
  ];
  if (route.idempotency !== 'none') {
    list.push({
      name: 'Idempotency-Key',
      in: 'header',
      required: false,
      description:
        'For 24 hours, repeating the request with the same key returns the stored response instead of running it again.',
      schema: { type: 'string', minLength: 1, maxLength: 256 },
    });
  }
  if (route.versioned) {
    list.push({
      name: 'If-Match',
      in: 'header',
      required: false,
      description: 'ETag of the version you are changing; 412 if it has changed since.',
      schema: { type: 'string' },
    });
  }
  return list;
}

function fields(
  schema: z.ZodType | undefined,
  where: 'path' | 'query',
  writer: SchemaWriter,
): JsonSchema[] {
  if (schema === undefined) return [];
  const written = writer.write(schema, 'input');
  const required = (written['required'] ?? []) as string[];
  return Object.entries((written['properties'] ?? {}) as Record<string, JsonSchema>).map(
    ([name, { description, ...property }]) => ({
      name,
      in: where,
      required: where === 'path' || required.includes(name),
      ...(description === undefined ? {} : { description }),
      schema: property,
    }),
  );
}

function requestBody(route: Route, writer: SchemaWriter): JsonSchema {
  const { body } = route.request;
  if (route.bodyKind === 'none') return {};
  if (route.bodyKind === 'json' && body !== undefined) {
    return {
      requestBody: {
        required: !body.safeParse(undefined).success,
        content: { 'application/json': { schema: writer.write(strict(route, body), 'input') } },
      },
    };
  }
  const types = route.consumes ?? [route.bodyKind === 'multipart' ? 'multipart/form-data' : '*/*'];
  const schema =
    body !== undefined
      ? writer.write(body, 'input')
      : route.bodyKind === 'multipart'
        ? { type: 'object', properties: { file: { type: 'string', format: 'binary' } } }
        : { type: 'string', format: 'binary' };
  return {
    requestBody: {
      required: true,
      content: Object.fromEntries(types.map((type) => [type, { schema }])),
    },
  };
}

function strict(route: Route, body: z.ZodType): z.ZodType {
  if (route.unknownFields !== 'refuse' || !('strict' in body)) return body;
  return (body as z.ZodObject).strict();
}

function successes(route: Route, writer: SchemaWriter, links: OperationLinks): JsonSchema {
  const replies: JsonSchema = {};
  for (const [
    status,
    { description, schema, contentType, alternatives, headers },
  ] of Object.entries(route.responses)) {
    const written = schema === undefined ? undefined : writer.write(schema, 'output');
    replies[status] = {
      description,
      headers: { ...standardHeaders(), ...routeHeaders(route), ...ownHeaders(headers) },
      ...(written === undefined
        ? contentType === undefined
          ? {}
          : { content: { [contentType]: { schema: { type: 'string' } } } }
        : {
            content: {
              [contentType ?? 'application/json']: { schema: written },
              ...Object.fromEntries(
                (alternatives ?? []).map((type) => [type, { schema: { type: 'string' } }]),
              ),
            },
            ...linksOf(route, written, writer, links),
          }),
    };
  }
  return replies;
}

/** From the reply's record, or from the first of its list. */
function linksOf(
  route: Route,
  schema: JsonSchema,
  writer: SchemaWriter,
  links: OperationLinks,
): { links?: Record<string, JsonSchema> } {
  const body = writer.resolve(schema);
  const { data } = (body['properties'] ?? {}) as Record<string, JsonSchema | undefined>;
  const items = data?.['type'] === 'array' ? (data['items'] as JsonSchema) : undefined;
  const found =
    items === undefined
      ? links.from(route, body, '')
      : links.from(route, writer.resolve(items), '/data/0');
  return Object.keys(found).length === 0 ? {} : { links: found };
}

function standardHeaders(): JsonSchema {
  return Object.fromEntries(
    Object.keys(REPLY_HEADERS).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

function routeHeaders(route: Route): JsonSchema {
  return ownHeaders({
    ...(route.versioned ? { ETag: 'Version of the resource, for If-Match' } : {}),
    ...(route.idempotency === 'none'
      ? {}
      : { 'Idempotency-Replayed': 'true when the answer was stored by an earlier request' }),
  });
}

function ownHeaders(headers: Readonly<Record<string, string>> | undefined): JsonSchema {
  return Object.fromEntries(
    Object.entries(headers ?? {}).map(([name, description]) => [
      name,
      { description, schema: { type: 'string' } },
    ]),
  );
}

function failures(route: Route): JsonSchema {
  const writes = route.method !== 'GET';
  const statuses = [400, 429, 500, 503];
  if (route.right.scopes !== 'public') statuses.push(403);
  // Public routes that take a credential in their body answer 401 as well.
  if (route.right.scopes !== 'public' || writes) statuses.push(401);
  if (route.request.params !== undefined || writes) statuses.push(404);
  if (writes) statuses.push(409, 422);
  if (route.versioned) statuses.push(412);
  if (route.bodyKind !== 'none') statuses.push(408, 413, 415);
  return Object.fromEntries(
    statuses
      .sort((a, b) => a - b)
      .map((status) => [status, { $ref: `#/components/responses/${ERRORS[status]![0]}` }]),
  );
}

function errorReply(description: string): JsonSchema {
  return {
    description,
    headers: {
      ...standardHeaders(),
      'X-Error-Code': { description: 'Stable code', schema: { type: 'string' } },
    },
    content: {
      'application/json': { schema: { $ref: '#/components/schemas/Error' } },
      'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
    },
  };
}
