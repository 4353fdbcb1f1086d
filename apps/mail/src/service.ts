import { hkdfSync } from 'node:crypto';
import type { Registry } from 'prom-client';
import {
  AnalyticsServiceService,
  AttachmentServiceService,
  ConversationServiceService,
  DomainServiceService,
  DraftServiceService,
  ImportServiceService,
  LabelServiceService,
  MailboxServiceService,
  RetentionServiceService,
  RuleServiceService,
  SignatureServiceService,
  SubmissionServiceService,
  TemplateServiceService,
  TenantServiceService,
  VisibilityServiceService,
} from '@dak/contracts/mail';
import { systemClock, type Clock } from '@dak/kernel';
import type { BlobStore } from '@dak/platform/blobs';
import { lockJournalFolder, readProcessName } from '@dak/platform/deployment';
import type { FileLock } from '@dak/platform/lifecycle';
import { createIdempotencySweeper } from '@dak/platform/idempotency';
import {
  createInboxSweeper,
  OutboxRelay,
  registerOutboxMetrics,
  type Log,
} from '@dak/platform/log';
import { failureReport, type Logger } from '@dak/platform/logging';
import { Database } from '@dak/platform/postgres';
import type { Service } from '@dak/platform/service-process';
import type { SharedState } from '@dak/platform/shared-state';
import {
  connectedRegistry,
  createTenantHandlers,
  formerTenantHandlers,
} from '@dak/platform/tenant-directory';
import type { PemPaths } from '@dak/platform/tls-files';
import { createAnalyticsConsumer } from './analytics/consume-events';
import { createAnalyticsHandlers } from './analytics/handlers';
import { registerLagGauge } from './analytics/lag-gauge';
import {
  createConversationCloser,
  createSnoozeWaker,
} from './conversations/changes/conversation-clockwork';
import { createConversationHandlers } from './conversations/changes/handlers';
import { createLabelHandlers } from './conversations/labels/handlers';
import { createMessageHandlers } from './conversations/messages/handlers';
import { createSearchHandlers } from './conversations/search/handlers';
import { createReaders } from './db/database-reader';
import { createModels } from './db/models';
import { registerQueueGauges } from './db/queue-gauges';
import { createDeliveryWorker } from './delivery/delivery-worker';
import { createMailOutReport } from './delivery/mail-out';
import { createTransport } from './delivery/transports/create-transport';
import { createDomainHandlers } from './domains/handlers';
import { putDomains } from './domains/put-domains';
import { createTxtLookup } from './domains/txt-lookup';
import { createAddressDirectory } from './mailboxes/addresses/address-directory';
import { createMailboxHandlers } from './mailboxes/handlers';
import { createVisibilityHandlers } from './mailboxes/readers/handlers';
import { createSignatureHandlers } from './mailboxes/signatures/handlers';
import { createImportHandlers } from './receiving/import/handlers';
import { watchBurst } from './receiving/pipeline/burst';
import { createClientCosts } from './receiving/pipeline/client-costs';
import { createInboundPipeline } from './receiving/pipeline/inbound-pipeline';
import { createMailInReport } from './receiving/pipeline/mail-in';
import { ReadingPool } from './receiving/reading/reading-pool';
import { createInbound, type InboundPorts } from './receiving/smtp/inbound';
import { createInboundMetrics } from './receiving/smtp/inbound-metrics';
import { DEFAULT_SMTP_LIMITS } from './receiving/smtp/smtp-listener-options';
import { createRetentionHandlers } from './retention/handlers';
import { createRuleCache } from './rules/definition/rule-cache';
import { createDryRunWorker } from './rules/dry-runs/dry-run-worker';
import { createPatternMatcher } from './rules/evaluation/pattern-matcher';
import { createRuleHandlers } from './rules/handlers';
import { createRuleConsumer } from './rules/runs/rule-consumer';
import { createRuleMetrics } from './rules/runs/rule-metrics';
import { createRuleSweeper } from './rules/runs/sweep-rule-records';
import { createAttachmentHandlers } from './sending/attachments/handlers';
import { createUploadSweeper } from './sending/attachments/sweep-uploads';
import { createDraftHandlers } from './sending/drafts/handlers';
import { createOutboxHandlers } from './sending/outbox/handlers';
import { createAcceptor } from './sending/submissions/acceptor';
import { createSubmissionHandlers } from './sending/submissions/handlers';
import { createSendQuota } from './sending/submissions/send-quota';
import { createTemplateHandlers } from './sending/templates/handlers';
import { clientOf } from './spool/flow-client';
import { createSpool } from './spool/spool';
import { mailTenants } from './tenant-directory';

export { openBlobs } from './db/open-blobs';
export { createMailRetention } from './mail-retention';

export interface MailServiceOptions {
  /** `dak_mail` under its runtime role, migrated. */
  databaseUrl: string;
  /** Closed by whoever opened it. */
  log: Log;
  blobs: BlobStore;
  sharedState: SharedState;
  logger: Logger;
  metrics: Registry;
  clock?: Clock;
  /** At least 32 characters, the same on every replica and after every start. */
  secret: string;
  /** Our name in greetings, EHLO and trace fields. */
  hostName: string;
  smtp: { host: string; port: number };
  lmtp: { host: string; port: number };
  /** `capture`, `direct` or the URL of a relay. */
  transport: string;
  /** Name servers as a comma list of host:port, or `off`; absent = those of the system. */
  dnsServers?: string | undefined;
  maxMessageBytes: number;
  /** Messages per minute from one client address. */
  inboundPerMinute: number;
  /** Sessions of one client address at a time. @default 20 */
  connectionsPerClient?: number;
  /** Certificate of STARTTLS; null = one that signs itself. @default null */
  smtpTls?: PemPaths | null;
  parserThreads: number;
  /** The bundled reading worker. */
  readingWorkerFile: string;
  /** Where files lie while they are read. */
  temporaryFolder: string;
  /** Folder of this process alone, with its name and its journal of acceptances. */
  journalFolder: string;
}

export interface MailService extends Service {
  /** Takes up background work and opens the SMTP and LMTP listeners. */
  start(): Promise<InboundPorts>;
}

const MINUTE_MS = 60_000;
/** Reading time that the mail of one client may take in a minute before it waits for that of others. */
const READING_BUDGET_MS = 10_000;

/** Builds and joins the parts of the mail service. */
export function createMailService(options: MailServiceOptions): MailService {
  const { blobs, logger, hostName, log } = options;
  const clock = options.clock ?? systemClock;
  const database = new Database({
    url: options.databaseUrl,
    applicationName: 'dak mail',
    metrics: options.metrics,
  });
  const cursorKey = new Uint8Array(
    hkdfSync('sha256', options.secret, 'dak mail', 'page cursors', 32),
  );
  const failed = (what: string) => failureReport(logger, what);
  registerQueueGauges(options.metrics, database);
  registerLagGauge(options.metrics, log);
  const inboundMetrics = createInboundMetrics(options.metrics);

  const relay = new OutboxRelay({
    source: database,
    channel: log.openRelay('mail'),
    onError: failed('events could not be moved to the log; it is tried again'),
  });
  registerOutboxMetrics(options.metrics, 'mail', relay);
  const costs = createClientCosts(READING_BUDGET_MS, () => performance.now());
  const reading = new ReadingPool({
    workerFile: options.readingWorkerFile,
    size: options.parserThreads,
    onRead: (flow, milliseconds, inFull) => {
      costs.note(clientOf(flow), milliseconds);
      inboundMetrics.read(milliseconds / 1000, inFull);
    },
  });
  const arrivals = watchBurst({ now: () => performance.now() });
  const pipeline = createInboundPipeline({
    database,
    blobs,
    read: (raw, request) => reading.read(raw, request),
    expensiveClients: () => costs.expensive(),
    onResults: createMailInReport({
      registry: options.metrics,
      log: logger,
      clock,
      onStored: (seconds) => inboundMetrics.stored(seconds),
    }),
    log: logger,
    owner: () => readProcessName(options.journalFolder),
    mustYield: () => arrivals.hasPrecedence(),
  });
  const spool = createSpool({
    database,
    blobs,
    onAppended: (entries) => {
      arrivals.note(entries);
      pipeline.wake();
    },
  });
  const directory = createAddressDirectory(database);
  const inbound = createInbound({
    directory,
    spool,
    clock,
    log: logger,
    hostName,
    smtp: options.smtp,
    lmtp: options.lmtp,
    limits: inboundLimits(options),
    tls: options.smtpTls ?? null,
    metrics: inboundMetrics,
    consume: async (key) => {
      const taken = await options.sharedState.consume(
        `inbound:${key}`,
        options.inboundPerMinute,
        MINUTE_MS,
      );
      return taken.allowed;
    },
  });
  const deliveries = createDeliveryWorker({
    database,
    blobs,
    clock,
    transport: createTransport(options.transport, hostName),
    directory,
    journalFolder: options.journalFolder,
    hostName,
    onSpooled: () => pipeline.wake(),
    onRecorded: createMailOutReport({ registry: options.metrics, log: logger }),
    onError: failed('a delivery could not be worked on; it is tried again'),
  });
  const onAccepted = (): void => deliveries.wake();
  const takeSend = createSendQuota(options.sharedState);
  const acceptor = createAcceptor({
    database,
    blobs,
    takeSend,
    keepRaw: (...kept) => deliveries.keepRaw(...kept),
    onAccepted,
  });
  const patterns = createPatternMatcher({ workerFile: options.readingWorkerFile });
  const rules = createRuleConsumer({
    patterns,
    database,
    log,
    blobs,
    clock,
    rulesOf: createRuleCache(),
    takeSend,
    onAccepted,
    onRan: createRuleMetrics(options.metrics),
  });
  const dryRuns = createDryRunWorker({
    patterns,
    database,
    blobs,
    owner: () => readProcessName(options.journalFolder),
    onError: failed('a dry run of a rule was interrupted; it is tried again'),
  });
  const sweepers = [
    createSnoozeWaker({ database, clock, onError: failed('snoozed conversations were not woken') }),
    createConversationCloser({
      database,
      clock,
      onError: failed('resolved conversations were not closed'),
    }),
    createUploadSweeper({ database, onError: failed('expired uploads were not removed') }),
    createIdempotencySweeper({ database, onError: failed('old answers were not removed') }),
    createRuleSweeper({ database, onError: failed('old runs of rules were not removed') }),
    createInboxSweeper({ database, onError: failed('ids of old events were not removed') }),
  ];

  const analytics = createAnalyticsConsumer(database, log);
  const tenants = createTenantHandlers(
    mailTenants({ database, blobs, clock, onReleased: onAccepted }),
  );
  const registry = connectedRegistry(tenants);
  const models = createModels(database);
  const records = { database, models, clock, cursorKey };
  const messages = { ...records, blobs };
  const submissions = { ...messages, acceptor, onAccepted, readers: createReaders(database) };
  registry.register(MailboxServiceService, createMailboxHandlers(records));
  const lookupTxt = createTxtLookup(options.dnsServers);
  registry.register(DomainServiceService, createDomainHandlers({ ...records, lookupTxt }));
  registry.register(ConversationServiceService, {
    ...createConversationHandlers(messages),
    ...createMessageHandlers(messages),
    ...createSearchHandlers(messages),
  });
  registry.register(AnalyticsServiceService, createAnalyticsHandlers({ database, clock }));
  registry.register(LabelServiceService, createLabelHandlers(records));
  registry.register(SubmissionServiceService, {
    ...createSubmissionHandlers(submissions),
    ...createOutboxHandlers(submissions),
  });
  registry.register(DraftServiceService, createDraftHandlers(submissions));
  registry.register(SignatureServiceService, createSignatureHandlers(records));
  registry.register(
    RuleServiceService,
    createRuleHandlers({ ...records, blobs, patterns, onDryRun: () => dryRuns.wake() }),
  );
  registry.register(TemplateServiceService, createTemplateHandlers(records));
  registry.register(AttachmentServiceService, createAttachmentHandlers({ ...records, blobs }));
  registry.register(
    ImportServiceService,
    createImportHandlers({
      ...records,
      blobs,
      onSpooled: () => pipeline.wake(),
      temporaryFolder: options.temporaryFolder,
    }),
  );
  registry.register(
    TenantServiceService,
    {
      ...formerTenantHandlers(tenants),
      putDomains: (request) => putDomains({ database, clock }, request),
    },
    { internal: true },
  );
  registry.register(
    RetentionServiceService,
    createRetentionHandlers({ database, blobs, clock, tenants }),
    { internal: true },
  );
  registry.register(VisibilityServiceService, createVisibilityHandlers({ database }), {
    internal: true,
  });

  let lock: FileLock | null = null;
  return {
    registry,
    async start() {
      lock = lockJournalFolder(options.journalFolder);
      relay.start();
      await analytics.start();
      for (const sweeper of sweepers) sweeper.start();
      await pipeline.start();
      await rules.start();
      dryRuns.start();
      await deliveries.start();
      return inbound.start();
    },
    async ready() {
      await database.ping();
    },
    async stop() {
      await inbound.stop();
      await rules.stop();
      await Promise.all([
        deliveries.stop(),
        pipeline.stop(),
        dryRuns.stop(),
        ...sweepers.map((sweeper) => sweeper.stop()),
      ]);
      await Promise.all([reading.close(), patterns.close()]);
      await relay.stop();
      await analytics.stop();
      await database.close();
      lock?.release();
    },
  };
}

function inboundLimits({ maxMessageBytes, connectionsPerClient }: MailServiceOptions) {
  const sessionsPerClient = connectionsPerClient ?? DEFAULT_SMTP_LIMITS.sessionsPerClient;
  return {
    maxMessageBytes,
    sessionsPerClient,
    sessionsPerNetwork: Math.max(DEFAULT_SMTP_LIMITS.sessionsPerNetwork, sessionsPerClient),
  };
}
