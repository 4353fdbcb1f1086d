import type { IncomingMessage, ServerResponse } from 'node:http';
import { createHash } from 'node:crypto';
import { DomainError, uuidv7, type Clock } from '@dak/kernel';
import { inSpan, isTracing } from '@dak/platform/telemetry';
import {
  compileAccess,
  compileBodyAccess,
  type AccessCheck,
  type BodyAccessCheck,
} from './access-check';
import type { BodyBudget, BodyShare } from './body-budget';
import { credentialOf, type Authenticator, type KnownCredential } from './authenticator';
import type { ClientAddressOf } from './client-address';
import { asDependencyFailure, MethodNotAllowedError, RequestTimeoutError } from './error-status';
import type { HttpMetrics, RouteTimer } from './http-metrics';
import { PathMatcher } from './path-matcher';
import {
  pushRateHeaders,
  requireAllowance,
  type Allowance,
  type RateLimiter,
} from './rate-limiter';
import {
  checkMediaType,
  JSON_BODY_LIMIT,
  readJson,
  streamBody,
  type BodyTimes,
} from './request-body';
import {
  parseIdempotencyKey,
  parseIfMatch,
  RequestContext,
  type AuditWriter,
} from './request-context';
import { compileInput, type InputParser } from './request-input';
import { writeError, writeReply } from './reply-writer';
import type { HeaderList } from './response-headers';
import type { Route } from './route';
import { fullPath } from './route-table';

export interface RequestHandlerDeps {
  routes: readonly Route[];
  authenticator: Authenticator;
  limiter: RateLimiter;
  writeAudit: AuditWriter;
  clientAddressOf: ClientAddressOf;
  bodyTimes: BodyTimes;
  bodies: BodyBudget;
  /** Headers of every reply. */
  headers: HeaderList;
  metrics: HttpMetrics;
  /** Told of every error that is not a DomainError. */
  onError: (error: unknown, requestId: string, route: string) => void;
  clock: Clock;
}

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

interface CompiledRoute {
  route: Route;
  label: string;
  input: InputParser;
  checkAccess: AccessCheck;
  checkBody: BodyAccessCheck | null;
  timer: RouteTimer;
  timeoutMs: number;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_STREAM_LIMIT = 25 * 1024 * 1024;
const SANE_REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** From a request to its reply in one function: match, authenticate, limit, check, run, write. */
export function createRequestHandler(deps: RequestHandlerDeps): RequestHandler {
  const matcher = new PathMatcher<CompiledRoute>();
  for (const route of deps.routes) {
    matcher.add(route.method, fullPath(route), compile(route, deps.metrics));
  }
  const unmatched = deps.metrics.timer('unmatched', 'any');
  return (request, response) => {
    const exchange = new Exchange(deps, matcher, request, response);
    exchange.timer = unmatched;
    exchange.run().catch((error: unknown) => {
      deps.onError(error, exchange.requestId, 'reply');
      response.destroy();
    });
  };
}

function compile(route: Route, metrics: HttpMetrics): CompiledRoute {
  return {
    route,
    label: `${route.method} ${route.path}`,
    input: compileInput(route),
    checkAccess: compileAccess(route.right),
    checkBody: compileBodyAccess(route.right),
    timer: metrics.timer(fullPath(route), route.method),
    timeoutMs: route.timeoutMs ?? DEFAULT_TIMEOUT_MS,
  };
}

class Exchange {
  readonly requestId: string;
  timer: RouteTimer | null = null;
  private readonly startedAt = performance.now();
  private label = 'unmatched';
  private allowance: Allowance | null = null;
  private bodyShare: BodyShare | null = null;

  constructor(
    private readonly deps: RequestHandlerDeps,
    private readonly matcher: PathMatcher<CompiledRoute>,
    private readonly request: IncomingMessage,
    private readonly response: ServerResponse,
  ) {
    const incoming = request.headers['x-request-id'];
    this.requestId =
      typeof incoming === 'string' && SANE_REQUEST_ID.test(incoming) ? incoming : uuidv7();
  }

  async run(): Promise<void> {
    let status: number;
    try {
      status = await this.serve();
    } catch (thrown) {
      const error = asDependencyFailure(thrown);
      if (!isExpected(error)) {
        this.deps.onError(error, this.requestId, this.label);
      }
      status = writeError(this.request, this.response, this.headers(), this.requestId, error);
    } finally {
      this.bodyShare?.release();
    }
    this.timer?.(status, (performance.now() - this.startedAt) / 1000);
  }

  private async serve(): Promise<number> {
    const url = this.request.url ?? '/';
    const question = url.indexOf('?');
    const path = withoutLastSlash(question < 0 ? url : url.slice(0, question));
    const values: string[] = [];
    const match = this.matcher.match(this.request.method ?? 'GET', path, values);
    if (match.kind !== 'found') {
      await this.limitAnonymous();
      if (match.kind === 'missing') throw noSuchPath(path);
      throw new MethodNotAllowedError(this.request.method ?? '', match.allow);
    }
    const { route, input, checkAccess } = match.target;
    this.timer = match.target.timer;
    this.label = match.target.label;

    const context = new RequestContext(
      this.request,
      this.response,
      this.requestId,
      this.deps.writeAudit,
      this.deps.clientAddressOf,
    );
    context.deadline = this.deps.clock() + match.target.timeoutMs;
    if (route.right.scopes === 'public') {
      if (route.rateClass === 'auth') await this.limitAuth();
      else await this.limitAnonymous();
    } else {
      context.principal = await this.authenticate(route);
      await this.check(checkAccess, route, context);
    }
    context.params = input.params(match.names, values);
    context.query = input.query(question < 0 ? '' : url.slice(question + 1));
    if (route.versioned) context.ifMatch = parseIfMatch(this.request.headers['if-match']);
    await this.readBody(context, match.target);
    match.target.checkBody?.(context.principal!, context.body);

    const reply = isTracing() ? await this.traced(route, context) : await route.handler(context);
    await writeReply(this.response, this.headers(), reply);
    return reply.status;
  }

  private traced(route: Route, context: RequestContext) {
    const attributes = { 'http.request.method': route.method, 'http.route': fullPath(route) };
    const parent = this.request.headers['traceparent'];
    return inSpan(
      this.label,
      { kind: 'server', attributes, parent: typeof parent === 'string' ? parent : null },
      async (traceparent) => {
        context.traceparent = traceparent;
        return route.handler(context);
      },
    );
  }

  /** An attempt at what only admins or superadmins may do is itself worth an audit entry. */
  private async check(checkAccess: AccessCheck, route: Route, context: RequestContext) {
    try {
      checkAccess(context.principal!);
    } catch (error) {
      if (route.right.role !== undefined) {
        await context.audit({
          action: 'access.refused',
          target: { type: 'route', id: this.label },
          outcome: 'refused',
          details: { reason: (error as DomainError).code },
        });
      }
      throw error;
    }
  }

  private async readBody(
    context: RequestContext,
    { route, input, label, timeoutMs }: CompiledRoute,
  ): Promise<void> {
    const { bodyTimes } = this.deps;
    let bytes: Uint8Array | null = null;
    if (route.bodyKind === 'json') {
      const limit = route.maxBodyBytes ?? JSON_BODY_LIMIT;
      const { principal } = context;
      this.bodyShare = principal === null ? null : this.deps.bodies.share(principal.organizationId);
      const body = await readJson(this.request, this.response, limit, bodyTimes, this.bodyShare);
      // The time of a slow line is not the handler's.
      context.deadline = this.deps.clock() + timeoutMs;
      context.body = input.body(body.value);
      bytes = body.bytes;
    } else if (route.bodyKind !== 'none') {
      const isMultipart = route.bodyKind === 'multipart';
      checkMediaType(this.request, route.consumes ?? [isMultipart ? 'multipart/form-data' : '*/*']);
      const limit = route.maxBodyBytes ?? DEFAULT_STREAM_LIMIT;
      context.bodyStream = streamBody(this.request, this.response, limit, {
        idleMs: bodyTimes.idleMs,
        totalMs: timeoutMs,
      });
    }
    if (route.idempotency === 'none') return;
    const key = parseIdempotencyKey(this.request.headers['idempotency-key']);
    if (key === null) return;
    const hash = createHash('sha256').update(`${this.request.url}\n`);
    if (bytes !== null) hash.update(bytes);
    context.idempotency = { key, route: label, requestHash: hash.digest('hex') };
  }

  /** A credential that this process knows is confirmed and charged in one go, so that a shared store costs one round trip. */
  private async authenticate(route: Route) {
    const { authenticator, limiter } = this.deps;
    const credential = await this.credential();
    const remembered = authenticator.recall(credential);
    if (remembered === undefined) {
      const known = await this.resolveUnknown(credential);
      const { credentialId } = known.principal;
      return this.charge(known, await limiter.take(credentialId, route.rateClass));
    }
    const [isCurrent, allowance] = await Promise.all([
      authenticator.isCurrent(remembered),
      limiter.take(remembered.principal.credentialId, route.rateClass),
    ]);
    // The reply's headers if the credential cannot be looked up.
    this.allowance = allowance;
    return this.charge(isCurrent ? remembered : await this.resolve(credential), allowance);
  }

  private charge(known: KnownCredential, allowance: Allowance) {
    this.require(allowance);
    return known.principal;
  }

  private require(allowance: Allowance): void {
    this.allowance = allowance;
    if (!allowance.consumption.allowed) this.deps.metrics.limited(allowance.class);
    requireAllowance(allowance);
  }

  private async credential(): Promise<string> {
    try {
      return credentialOf(this.request.headers);
    } catch (error) {
      await this.limitAnonymous();
      throw error;
    }
  }

  /** Guessing is charged to the client's address, and before the look-up; a database that is away is no guess. */
  private async resolveUnknown(credential: string): Promise<KnownCredential> {
    const { authenticator, clientAddressOf, limiter } = this.deps;
    await this.limitAnonymous();
    let isGuess = false;
    try {
      return await authenticator.resolve(credential);
    } catch (error) {
      isGuess = isUnauthenticated(error);
      throw error;
    } finally {
      if (!isGuess) await limiter.giveBackAnonymous(clientAddressOf(this.request));
    }
  }

  /** For a credential that was valid before: guessing from the same address must not lock its holder out. */
  private async resolve(credential: string): Promise<KnownCredential> {
    try {
      return await this.deps.authenticator.resolve(credential);
    } catch (error) {
      if (isUnauthenticated(error)) await this.limitAnonymous();
      throw error;
    }
  }

  private async limitAnonymous(): Promise<void> {
    const address = this.deps.clientAddressOf(this.request);
    this.require(await this.deps.limiter.takeAnonymous(address));
  }

  private async limitAuth(): Promise<void> {
    const address = this.deps.clientAddressOf(this.request);
    this.require(await this.deps.limiter.takeAuth(address));
  }

  private headers(): string[] {
    const headers = this.deps.headers.slice();
    headers.push('X-Request-Id', this.requestId);
    if (this.allowance !== null) pushRateHeaders(headers, this.allowance);
    return headers;
  }
}

function isExpected(error: unknown): boolean {
  // An unexpected error of a service in the same process arrives as `internal`.
  if (error instanceof DomainError) return error.kind !== 'internal';
  return error instanceof MethodNotAllowedError || error instanceof RequestTimeoutError;
}

function isUnauthenticated(error: unknown): boolean {
  return error instanceof DomainError && error.kind === 'unauthenticated';
}

function withoutLastSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

function noSuchPath(path: string): DomainError {
  return new DomainError(
    'not_found',
    'not_found',
    `Nothing is at ${path.slice(0, 200)}: GET /api/v1/capabilities lists what is there.`,
  );
}
