import { hkdfSync, type KeyObject } from 'node:crypto';
import { Counter, Gauge, type Registry } from 'prom-client';
import { systemClock, type Clock, type Principal } from '@dak/kernel';
import type { Log, Subscription } from '@dak/platform/log';
import { failureReport, type Logger } from '@dak/platform/logging';
import { Probes } from '@dak/platform/probes';
import type { SharedState } from '@dak/platform/shared-state';
import { registerDatabaseSize } from '@dak/platform/telemetry';
import { watchTlsFiles, type PemPaths } from '@dak/platform/tls-files';
import { Announcer, type Announcement } from './announcements/announcer';
import { KEY_ENDS } from './announcements/key-end-store';
import { OPERATIONS } from './announcements/operations-store';
import { ORGANIZATIONS } from './announcements/organization-store';
import { tellEach } from './announcements/tenant-directories';
import { USERS } from './announcements/user-store';
import { apiKeyRoutes } from './api-keys/api-key-routes';
import { AuditLog, auditSource } from './audit/audit-log';
import { auditRoutes } from './audit/audit-routes';
import { createAuditSettling, startAuditChain } from './audit/chain-notes';
import type { Backend, RouteParts } from './backend/backend';
import { createMailDirectory } from './backend/mail-directory-store';
import { GatewayStore } from './database/gateway-store';
import { departmentRoutes } from './departments/department-routes';
import { capabilitiesRoute } from './discovery/capabilities-route';
import { documentRoutes } from './discovery/document-routes';
import { indexRoute } from './discovery/index-route';
import { createEventFeed, KEEP_HOURS } from './event-stream/event-feed';
import { eventStreamRoutes } from './event-stream/event-stream-routes';
import { eventTypesRoute } from './event-stream/event-types-route';
import { DEFAULT_STREAM_LIMITS, type StreamLimits } from './event-stream/stream-hub';
import {
  firstRun,
  firstSuperadmin,
  type FirstRun,
  type FirstRunOptions,
} from './first-run/first-run';
import { BodyBudget } from './http/body-budget';
import { clientAddressReader } from './http/client-address';
import { HttpMetrics } from './http/http-metrics';
import { HttpServer } from './http/http-server';
import type { JsonSchema } from './http/json-schema';
import { openApiDocument } from './http/openapi-document';
import { RateLimiter, rateLimits, type RateLimits } from './http/rate-limiter';
import { BODY_TIMES, type BodyTimes } from './http/request-body';
import { createRequestHandler } from './http/request-handler';
import { API_CONTENT_POLICY, securityHeaders } from './http/response-headers';
import type { AuditNote, Route } from './http/route';
import { describeRoutes, type RouteDescription } from './http/route-table';
import { AccessTokens } from './identity/access-token';
import { CredentialAuthenticator } from './identity/credential-authenticator';
import { IdentityVersions } from './identity/identity-versions';
import { LastUsedRecorder } from './identity/last-used-recorder';
import { Passwords } from './identity/password';
import { WorkAfterAnswers } from './identity/work-after-answers';
import { operationsRoutes } from './operations/operations-routes';
import { organizationRoutes } from './organizations/organization-routes';
import { erasureRoutes } from './retention/erasure-routes';
import { feedKeeper, logKeeper, serviceKeeper } from './retention/event-keepers';
import { createUpkeep } from './retention/upkeep';
import type { SessionParts } from './sessions/login';
import { DEFAULT_LOGIN_FAILURES, LoginThrottle } from './sessions/login-throttle';
import { sessionRoutes } from './sessions/session-routes';
import { findLogins, purgeExpired } from './sessions/session-store';
import { userRoutes } from './users/user-routes';

export interface GatewayOptions extends Backend {
  /** `dak_gateway` under its runtime role, migrated. */
  databaseUrl: string;
  /** Closed by its creator. */
  sharedState: SharedState;
  logger: Logger;
  metrics: Registry;
  version: string;
  /** Where clients reach the site; https adds Secure to cookies and Strict-Transport-Security. */
  siteUrl: string;
  /** At least 32 characters, the same on every replica and after every start. */
  secret: string;
  /** Ed25519, private; the same on every replica. Signs session tokens. */
  sessionKey: KeyObject;
  clock?: Clock;
  rateLimits?: Partial<RateLimits>;
  /** Failed logins of one account from one client address within 15 minutes. @default 10 */
  loginFailures?: number;
  /** Networks of the proxies whose word about the client's address counts. @default none */
  trustedProxies?: readonly string[];
  /** Files of a certificate and its key: HTTPS instead of HTTP. */
  tls?: PemPaths | null;
  bodyTimes?: Partial<BodyTimes>;
  /** A first password of this address is worth nothing any more. */
  onPasswordChanged?: (email: string) => Promise<void>;
  /** The event log; closed by its creator. Without it, streams show what other replicas wrote. */
  log?: Log;
  streamLimits?: Partial<StreamLimits>;
  /** What `/readyz` asks besides database and shared state, by name. */
  dependencies?: Readonly<Record<string, () => Promise<void>>>;
  /** False until the whole process works. @default always true */
  isStarted?: () => boolean;
  /** Overwrites what deleted rows have left in the files of the database, where it is ours. */
  scrub?: () => Promise<void>;
}

export interface Gateway {
  readonly routes: readonly Route[];
  /** For a port of their own: metrics are not shown on that of the API. */
  readonly probes: Probes;
  /** @throws DomainError conflict when the port is taken */
  listen(port: number, host: string): Promise<{ port: number }>;
  /** The routes as data, for the generated test matrix. */
  routeTable(): RouteDescription[];
  /** @param closeObjects refuses undocumented members in replies (tests) */
  openApi(closeObjects?: boolean): JsonSchema;
  /** Fills an empty database and returns secrets that cannot be read again; null if it is not empty. */
  ensureFirstRun(options?: FirstRunOptions): Promise<FirstRun | null>;
  /** Fills an empty database with a superadmin only; null if it is not empty. */
  ensureSuperadmin(person: { email: string; password: string }): Promise<{ id: string } | null>;
  close(graceMs?: number): Promise<void>;
}

const UPKEEP_MS = 3_600_000;

/** Builds and joins the parts of the gateway. */
export function createGateway(options: GatewayOptions): Gateway {
  const clock = options.clock ?? systemClock;
  const { logger, sharedState } = options;
  // First: with files that are not usable nothing else may begin.
  const files =
    options.tls == null
      ? null
      : watchTlsFiles({
          paths: options.tls,
          log: logger,
          onChange: (pair) => server.setCertificate(pair),
        });
  const store = new GatewayStore(options.databaseUrl, options.metrics);
  registerDatabaseSize(options.metrics, 'gateway', () => store.size());
  const announcers = createAnnouncers(options, store);
  const metrics = new HttpMetrics(options.metrics);
  const parts = identityParts(options, clock, store, announcers, metrics);
  const limiter = new RateLimiter(sharedState, rateLimits(options.rateLimits));
  const authenticator = new CredentialAuthenticator({
    database: store.database,
    versions: parts.versions,
    tokens: parts.tokens,
    lastUsed: parts.lastUsed,
    clock,
  });
  const feed = createEventFeed({
    log: options.log ?? null,
    database: store.database,
    authenticator,
    visibility: options.visibility,
    placeKey: derived(options.secret, 'places in event streams'),
    clock,
    logger,
    limits: options.streamLimits,
  });
  const upkeepJobs = createUpkeep({
    database: store.database,
    audit: parts.audit,
    versions: parts.versions,
    mail: options.mailKeeper,
    events: [
      feedKeeper(store.database),
      ...options.tenants.map(serviceKeeper),
      ...(options.log === undefined ? [] : [logKeeper(options.log)]),
    ],
    tenants: options.tenants,
    log: options.log ?? null,
    scrub: options.scrub ?? (() => Promise.resolve()),
    clock,
    sharedState,
    logger,
    metrics: options.metrics,
  });
  const principalOf = authenticator.principalOf.bind(authenticator);
  const routes = allRoutes(options, parts, principalOf, limiter.limits, [
    ...erasureRoutes({ ...parts, erase: upkeepJobs.erase }),
    ...eventStreamRoutes({ hub: feed.hub, authenticator }),
    eventTypesRoute(),
  ]);

  const probes = new Probes({
    metrics: options.metrics,
    ...(options.isStarted && { isStarted: options.isStarted }),
    isReady: async () => {
      await store.database.ping();
      await sharedState.ping();
      for (const ping of Object.values(options.dependencies ?? {})) await ping();
    },
  });
  const server: HttpServer = new HttpServer({
    probes,
    tls: files?.pair,
    handle: createRequestHandler({
      routes,
      limiter,
      clock,
      authenticator,
      writeAudit: auditWriter(parts.audit),
      clientAddressOf: clientAddressReader(options.trustedProxies ?? []),
      headers: securityHeaders(parts.isHttps, API_CONTENT_POLICY),
      metrics,
      bodyTimes: { ...BODY_TIMES, ...options.bodyTimes },
      bodies: new BodyBudget(),
      onError: (error, requestId, route) =>
        logger.error({ err: error, request_id: requestId, route }, 'a request failed'),
    }),
  });
  new Gauge({
    name: 'dak_http_connections',
    help: 'Open connections of the API',
    registers: [options.metrics],
    async collect() {
      this.set(await server.connections().catch(() => 0));
    },
  });
  const upkeep = setInterval(() => {
    const now = new Date(clock()).toISOString();
    store.database
      .asWorker((tx) => purgeExpired(tx, now))
      .catch(failureReport(logger, 'expired sessions could not be removed'));
    feed.sweep().catch(failureReport(logger, 'old events could not be removed'));
  }, UPKEEP_MS).unref();
  for (const announcer of Object.values(announcers)) announcer.start();

  let auditChain: Subscription | null = null;
  let closing: Promise<void> | null = null;
  const close = async (graceMs?: number): Promise<void> => {
    clearInterval(upkeep);
    await upkeepJobs.stop();
    files?.stop();
    // Streams never end on their own; closing the server would wait forever.
    await feed.close();
    await auditChain?.close();
    await server.close(graceMs);
    for (const announcer of Object.values(announcers)) await announcer.stop();
    await parts.lastUsed.flush();
    await parts.afterAnswers.flush();
    await limiter.close();
    await store.close();
  };

  return {
    routes,
    probes,
    listen: async (port, host) => {
      await feed.start();
      if (options.log !== undefined) {
        auditChain ??= await startAuditChain({ log: options.log, database: store.database });
      }
      upkeepJobs.start();
      return server.listen(port, host);
    },
    routeTable: () => describeRoutes(routes),
    openApi: (closeObjects = false) =>
      openApiDocument(routes, { version: options.version, closeObjects }),
    ensureSuperadmin: async (person) => {
      const made = await firstSuperadmin(parts, person);
      await announcers.organizations.announcePending(null);
      await announcers.users.announcePending(null);
      return made;
    },
    ensureFirstRun: async (runOptions) => {
      const made = await firstRun(parts, runOptions);
      await announcers.organizations.announcePending(null);
      await announcers.users.announcePending(null);
      await announcers.operations.announcePending(null);
      return made;
    },
    close: (graceMs) => (closing ??= close(graceMs)),
  };
}

type Announcers = ReturnType<typeof createAnnouncers>;

function createAnnouncers({ tenants, logger }: GatewayOptions, store: GatewayStore) {
  const announcer = <State extends object>(announcement: Announcement<State>, what: string) =>
    new Announcer(
      store,
      announcement,
      tenants,
      failureReport(logger, `${what} could not be announced; it is tried again`),
    );
  return {
    organizations: announcer(ORGANIZATIONS, 'an organization'),
    users: announcer(USERS, 'a user'),
    keys: announcer(KEY_ENDS, 'the end of a key'),
    operations: announcer(OPERATIONS, 'the stop switches'),
  };
}

function identityParts(
  options: GatewayOptions,
  clock: Clock,
  store: GatewayStore,
  announcers: Announcers,
  metrics: HttpMetrics,
): SessionParts {
  const { logger, sharedState } = options;
  const reportKept = failureReport(
    logger,
    'a first password that was changed could not be removed from its file',
  );
  const loginFailures = new Counter({
    name: 'dak_login_failures_total',
    help: 'Sign-ins and password changes refused for a wrong password or an unknown address',
    registers: [options.metrics],
  });
  return {
    store,
    clock,
    versions: new IdentityVersions(sharedState),
    audit: new AuditLog(store.database, clock),
    tokens: new AccessTokens(options.sessionKey),
    lastUsed: new LastUsedRecorder(
      store.database,
      clock,
      failureReport(logger, 'the last use of keys could not be stored'),
    ),
    passwords: new Passwords(derived(options.secret, 'password salts')),
    afterAnswers: new WorkAfterAnswers(
      failureReport(logger, 'what follows an answer could not be stored'),
    ),
    throttle: new LoginThrottle(sharedState, options.loginFailures ?? DEFAULT_LOGIN_FAILURES, () =>
      metrics.limited('login'),
    ),
    loginFailed: () => loginFailures.inc(),
    passwordChanged: async (email, userId) => {
      if (options.onPasswordChanged === undefined) return;
      try {
        // Users of the same address in other organizations are younger than those of the first start.
        const [oldest] = await store.database.asWorker((tx) => findLogins(tx, email));
        if (oldest?.userId === userId) await options.onPasswordChanged(email);
      } catch (error) {
        reportKept(error);
      }
    },
    secrets: {
      idempotency: derived(options.secret, 'idempotent answers'),
      cursor: derived(options.secret, 'page cursors'),
      refresh: derived(options.secret, 'refresh tokens'),
    },
    putDomains: options.putDomains,
    isHttps: options.siteUrl.startsWith('https:') || options.tls != null,
    organizationChanged: async (organizationId) => {
      await announcers.organizations.announceSoon(organizationId);
      await announcers.users.announceSoon(organizationId);
    },
    operationsChanged: () => announcers.operations.announceSoon(null),
    usersChanged: (organizationId) => announcers.users.announceSoon(organizationId),
    keysEnded: (organizationId) => announcers.keys.announceSoon(organizationId),
  };
}

function allRoutes(
  options: GatewayOptions,
  parts: SessionParts,
  principalOf: RouteParts['principalOf'],
  limits: RateLimits,
  eventRoutes: readonly Route[],
): readonly Route[] {
  const { version } = options;
  const serviceRoutes = options.routes({
    directory: createMailDirectory(parts.store),
    siteUrl: options.siteUrl.replace(/\/$/, ''),
    ticketKey: derived(options.secret, 'links to files'),
    clock: parts.clock,
    principalOf,
    seesMailbox: options.seesMailbox,
    seesWebhook: options.seesWebhook,
  });
  const all = (): readonly Route[] => routes;
  const routes: readonly Route[] = [
    indexRoute({ version, visibleMailboxIds: options.visibleMailboxIds }),
    capabilitiesRoute({
      routes: all,
      rateLimits: limits,
      serviceLimits: {
        event_stream_history_hours: KEEP_HOURS,
        event_streams_per_credential: { ...DEFAULT_STREAM_LIMITS, ...options.streamLimits }
          .perCredential,
        ...options.serviceLimits,
      },
    }),
    ...documentRoutes({ version, routes: all }),
    ...serviceRoutes,
    ...eventRoutes,
    ...sessionRoutes(parts),
    ...userRoutes(parts),
    ...apiKeyRoutes(parts),
    ...departmentRoutes(parts),
    ...organizationRoutes(parts),
    ...auditRoutes(
      parts,
      createAuditSettling(options.log, () =>
        // One that is away must not cut the wait for the others short.
        tellEach(options.tenants, (service, call) =>
          service.settleAudit({}, call).catch(() => undefined),
        ),
      ),
    ),
    ...operationsRoutes(parts),
  ];
  return routes;
}

function auditWriter(audit: AuditLog) {
  return async (principal: Principal | null, requestId: string, note: AuditNote) => {
    if (principal === null) return;
    await audit.recordAlone(auditSource({ principal, requestId }), note);
  };
}

function derived(secret: string, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, 'dak gateway', purpose, 32));
}

export { defineProbe, defineRoute } from './http';
export type { Route, RouteContext, RouteReply } from './http';
export type { RouteDescription } from './http/route-table';
export type { FirstRun, FirstRunOptions } from './first-run/first-run';
export { resetSuperadmin } from './users/reset-superadmin';
export type { Backend } from './backend/backend';
export { noServices } from './backend/no-services';
export { backendOver } from './backends';
export { retainNow } from './retention/retention-now';
