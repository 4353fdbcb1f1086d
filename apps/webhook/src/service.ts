import { hkdfSync } from 'node:crypto';
import type { Registry } from 'prom-client';
import {
  RetentionServiceService,
  TenantServiceService,
  WebhookServiceService,
} from '@dak/contracts/webhook';
import { systemClock, type Clock } from '@dak/kernel';
import { createGuardedHttp, parseAllowance } from '@dak/platform/guarded-http';
import { createIdempotencySweeper } from '@dak/platform/idempotency';
import { createRepeatingWorker } from '@dak/platform/lifecycle';
import { OutboxRelay, registerOutboxMetrics, type Log } from '@dak/platform/log';
import { failureReport, type Logger } from '@dak/platform/logging';
import { Database } from '@dak/platform/postgres';
import type { Service } from '@dak/platform/service-process';
import {
  connectedRegistry,
  createTenantHandlers,
  formerTenantHandlers,
} from '@dak/platform/tenant-directory';
import type { VisibilityClient } from '@dak/platform/visibility';
import { createDeliveryHandlers } from './deliveries/handlers';
import { disableEndpoint } from './endpoints/disable-endpoint-store';
import { createEndpointHandlers } from './endpoints/handlers';
import { createSecretHandlers } from './endpoints/secret-handlers';
import type { WebhookDeps } from './endpoints/webhook-deps';
import { FanOut } from './fan-out/fan-out';
import { Dispatcher } from './lanes/dispatcher';
import { createWebhookMetrics } from './metrics';
import { createReplayHandlers } from './replays/handlers';
import { replayRound } from './replays/replay-worker';
import { sweep } from './retention/sweep-store';
import { createSealing } from './secrets/sealing';
import { webhookTenants } from './tenant-directory';

export { createWebhookRetention } from './webhook-retention';

export interface WebhookServiceOptions {
  /** `dak_webhook` under its runtime role, migrated. */
  databaseUrl: string;
  /** Closed by the caller. */
  log: Log;
  /** The mail service; calls are made in the name of this service. */
  visibility: VisibilityClient;
  logger: Logger;
  metrics: Registry;
  clock?: Clock;
  /** Seals secrets: at least 32 characters, the same on every replica and after every start. */
  secret: string;
  /** `DAK_WEBHOOK_ALLOW`: destinations of requests besides public addresses. */
  allow: string;
  /** Of this process alone, the same after every start, which then frees its lanes at once. @default none */
  processName?: string | undefined;
  /** How long a lane is leased. @default 10000 */
  leaseMs?: number;
}

export interface WebhookService extends Service {
  /** Starts reading events and sending. */
  start(): Promise<void>;
}

const HOUR_MS = 3_600_000;
const REPLAY_EVERY_MS = 1_000;

/** Builds and joins the parts of the webhook service. */
export function createWebhookService(options: WebhookServiceOptions): WebhookService {
  const { log, logger, visibility } = options;
  const clock = options.clock ?? systemClock;
  const database = new Database({
    url: options.databaseUrl,
    applicationName: 'dak webhook',
    metrics: options.metrics,
  });
  const failed = (what: string) => failureReport(logger, what);
  const allowance = parseAllowance(options.allow);
  const sealing = createSealing(options.secret);
  const http = createGuardedHttp({ allow: allowance });
  const metrics = createWebhookMetrics(options.metrics, database, () => dispatcher.breakerStates);

  const relay = new OutboxRelay({
    source: database,
    channel: log.openRelay('webhook'),
    onError: failed('events could not be moved to the log; it is tried again'),
  });
  registerOutboxMetrics(options.metrics, 'webhook', relay);
  const dispatcher = new Dispatcher({
    database,
    http,
    sealing,
    visibility,
    clock,
    onError: failed('webhooks could not be sent; it is tried again'),
    onAttempt: (verdict, waitedMs) => metrics.attempted(verdict, waitedMs),
    async disable(endpointId, reason) {
      if (!(await disableEndpoint(database, endpointId, reason))) return;
      metrics.disabled(reason);
      logger.warn({ webhook_id: endpointId, reason }, 'a webhook was disabled');
    },
    processName: options.processName,
    leaseMs: options.leaseMs,
  });
  const fanOut = new FanOut({
    database,
    log,
    visibility,
    onCommitted: (deliveries) => dispatcher.add(deliveries),
    onCounted: (events, deliveries) => metrics.fannedOut(events, deliveries),
  });
  const onChanged = (endpointIds: readonly string[]): void => dispatcher.refresh(endpointIds);
  const onReplayError = failed('a replay could not go on; it is tried again');
  const replays = createRepeatingWorker(
    'replay',
    () => replayRound({ database, visibility, onChanged, onError: onReplayError }),
    REPLAY_EVERY_MS,
    onReplayError,
  );
  const sweeper = createRepeatingWorker(
    'sweep',
    () => sweep(database),
    HOUR_MS,
    failed('old deliveries were not removed'),
  );
  const answers = createIdempotencySweeper({
    database,
    onError: failed('old answers were not removed'),
  });

  const deps: WebhookDeps = {
    database,
    clock,
    cursorKey: new Uint8Array(
      hkdfSync('sha256', options.secret, 'dak webhook', 'page cursors', 32),
    ),
    sealing,
    allowance,
    visibility,
    onChanged,
  };
  const tenants = createTenantHandlers(
    webhookTenants({ database, onChanged, onSwitched: () => dispatcher.refreshAll() }),
  );
  const registry = connectedRegistry(tenants);
  registry.register(WebhookServiceService, {
    ...createEndpointHandlers(deps),
    ...createSecretHandlers(deps),
    ...createDeliveryHandlers(deps),
    ...createReplayHandlers(deps),
  });
  registry.register(TenantServiceService, formerTenantHandlers(tenants), { internal: true });
  registry.register(
    RetentionServiceService,
    { forget: tenants.forget, eraseOrganization: tenants.eraseOrganization },
    { internal: true },
  );

  return {
    registry,
    async start() {
      // Attempts of today need a partition.
      await sweep(database);
      relay.start();
      await dispatcher.start();
      await fanOut.start();
      for (const worker of [replays, sweeper, answers]) worker.start();
    },
    async ready() {
      await database.ping();
    },
    async stop() {
      await fanOut.stop();
      await Promise.all([replays, sweeper, answers].map((worker) => worker.stop()));
      await dispatcher.stop();
      await http.close();
      await relay.stop();
      await database.close();
    },
  };
}
