import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { EventKind } from '@dak/contracts/events';
import { RIGHTS, type Action, type Right } from '@dak/contracts/rights';
import type { Principal, Scope } from '@dak/kernel';
import type { CallOptions, IdempotencyKey } from '@dak/platform/grpc';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
/** `auth` is for routes without a credential that check a secret: all counted together by client address, before any work. */
export type RateClass = 'read' | 'write' | 'auth';

/** An audit entry beside the ones that the gateway's own operations write with their change. */
export interface AuditNote {
  action: string;
  target: { type: string; id: string | null };
  outcome: 'attempted' | 'succeeded' | 'refused' | 'failed';
  /** Never secrets; strings, booleans, integers, lists and objects of them. */
  details?: Readonly<Record<string, unknown>>;
}

/** A handler's input, validated against the route's definition. */
export interface RouteContext<Who, Params, Query, Body> {
  readonly principal: Who;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** Version of `If-Match: "<version>"`; null when the header is absent or `*`. */
  readonly ifMatch: number | null;
  /** From the Idempotency-Key header, for routes with `idempotency`. */
  readonly idempotency: IdempotencyKey | null;
  readonly requestId: string;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal;
  /** Principal, request id, deadline, signal, idempotency and trace for a call to a service. */
  readonly call: CallOptions;
  /** As reported by trusted proxies, if behind any. */
  readonly clientAddress: string;
  readonly headers: IncomingMessage['headers'];
  /** The URL as requested, for `Link` headers and cookies' scope. */
  readonly url: string;
  /** The raw body of routes with `bodyKind` stream or multipart; rejects with 413 above `maxBodyBytes`. */
  readonly bodyStream: AsyncIterable<Buffer>;
  audit(note: AuditNote): Promise<void>;
}

/** A handler's result. One of `body`, `json` and `stream`, or none for 204. */
export interface RouteReply {
  status: number;
  /** Plain object; sent as JSON. */
  body?: unknown;
  /** JSON bytes from a service, sent as they are; an envelope around them comes in parts, which saves a copy. */
  json?: Uint8Array | readonly Uint8Array[];
  /** Bytes of another media type; name it in `headers['Content-Type']`. Ends the connection when it fails midway. */
  stream?: Readable | AsyncIterable<Uint8Array>;
  headers?: Readonly<Record<string, string>>;
  /** Version of the resource; becomes `ETag: "<version>"`. */
  version?: number;
  /** The answer was stored by an earlier request with the same Idempotency-Key. */
  replayed?: boolean;
}

interface ResponseDefinition {
  description: string;
  /** Absent for replies without a JSON body. */
  schema?: z.ZodType;
  /** Media type of a body that is not JSON. */
  contentType?: string;
  /** Media types that a client can ask for instead (Accept). */
  alternatives?: readonly string[];
  /** Descriptions by header name. */
  headers?: Readonly<Record<string, string>>;
}

type OutputOf<S> = S extends z.ZodType ? z.output<S> : undefined;
type PrincipalOf<R extends Right> = R['scopes'] extends 'public' ? null : Principal;

/** The paths of the rights table for a method. */
type PathOf<M extends Method> = Action extends infer A
  ? A extends `${M} ${infer Path}`
    ? Path
    : never
  : never;

export interface RouteDefinition<
  M extends Method = Method,
  Path extends string = string,
  R extends Right = Right,
  P extends z.ZodType | undefined = z.ZodType | undefined,
  Q extends z.ZodType | undefined = z.ZodType | undefined,
  B extends z.ZodType | undefined = z.ZodType | undefined,
> {
  method: M;
  /** Relative to `/api/v1`, or to the site with `base: 'site'`; parameters as `{id}`. */
  path: Path;
  /** @default 'api' */
  base?: 'api' | 'site';
  summary: string;
  description?: string;
  /** The resource it belongs to, as `/capabilities` and the documents group it. */
  tag: string;
  /** @default read for GET, write for all others */
  rateClass?: RateClass;
  /**
   * `gateway`: the effect is in the gateway's database and goes through `runOnce`; `service`: the key
   * travels in `context.call` and the owner of the effect stores the answer; `none`: the header is ignored.
   * @default 'service' for POST, 'none' for all others
   */
  idempotency?: 'gateway' | 'service' | 'none';
  /** `refuse` answers 400 for a body field that is not documented. @default 'ignore' */
  unknownFields?: 'ignore' | 'refuse';
  request?: { params?: P; query?: Q; body?: B };
  /** @default 'json' with a body schema, else 'none' */
  bodyKind?: 'json' | 'multipart' | 'stream' | 'none';
  /** Media types that a stream or multipart route takes. @default multipart/form-data, or any for a stream */
  consumes?: readonly string[];
  /** @default 10 MB for JSON */
  maxBodyBytes?: number;
  /** Milliseconds until the handler's deadline. @default 30 000 */
  timeoutMs?: number;
  /** True when the route honors If-Match. @default false */
  versioned?: boolean;
  /** By status, successes only; error replies are documented by the frame. */
  responses: Readonly<Record<number, ResponseDefinition>>;
  /** Event kinds that the operation leads to. */
  emits?: readonly EventKind[];
  handler: (
    context: RouteContext<PrincipalOf<R>, OutputOf<P>, OutputOf<Q>, OutputOf<B>>,
  ) => Promise<RouteReply> | RouteReply;
}

/** A route whose schemas are checked and whose types are no longer needed. */
export interface Route extends Omit<RouteDefinition, 'handler' | 'request'> {
  /** Who may call it. */
  right: Right;
  request: { params?: z.ZodType; query?: z.ZodType; body?: z.ZodType };
  base: 'api' | 'site';
  rateClass: RateClass;
  idempotency: 'gateway' | 'service' | 'none';
  unknownFields: 'ignore' | 'refuse';
  bodyKind: 'json' | 'multipart' | 'stream' | 'none';
  versioned: boolean;
  handler: (
    context: RouteContext<Principal | null, unknown, unknown, unknown>,
  ) => Promise<RouteReply> | RouteReply;
}

/**
 * The one way to define a route; routing, checks, documents and the test matrix are derived from it. Who may
 * call it stands in the rights table (`@dak/contracts/rights`): without a row there, its path is a type error.
 */
export function defineRoute<
  const M extends Method,
  const Path extends PathOf<M>,
  P extends z.ZodType | undefined = undefined,
  Q extends z.ZodType | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(definition: RouteDefinition<M, Path, (typeof RIGHTS)[`${M} ${Path}` & Action], P, Q, B>): Route {
  const rights: Readonly<Record<string, Right | undefined>> = RIGHTS;
  const right = rights[`${definition.method} ${definition.path}`];
  if (right === undefined) throw new Error(`${definition.path} has no row in the rights table`);
  return defineProbe(right, definition as RouteDefinition);
}

/** A route that is not of the API, with its own right: for tests and benches. */
export function defineProbe<
  const R extends Right,
  P extends z.ZodType | undefined = undefined,
  Q extends z.ZodType | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(right: R, definition: RouteDefinition<Method, string, R, P, Q, B>): Route {
  const isPost = definition.method === 'POST';
  return {
    ...definition,
    right,
    request: definition.request ?? {},
    base: definition.base ?? 'api',
    rateClass: definition.rateClass ?? (definition.method === 'GET' ? 'read' : 'write'),
    idempotency:
      definition.idempotency ?? (isPost && right.scopes !== 'public' ? 'service' : 'none'),
    unknownFields: definition.unknownFields ?? 'ignore',
    bodyKind: definition.bodyKind ?? (definition.request?.body === undefined ? 'none' : 'json'),
    versioned: definition.versioned ?? false,
    handler: definition.handler as Route['handler'],
  };
}

/** The scopes of which any one suffices; none where a credential is enough, or not even needed. */
export function anyScope({ scopes }: Right): readonly Scope[] {
  return typeof scopes === 'string' ? [] : scopes;
}
