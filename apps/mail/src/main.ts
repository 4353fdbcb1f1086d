import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { FolderBlobStore } from '@dak/platform/blobs';
import { CallerVerifier, startGrpcServer } from '@dak/platform/grpc';
import { runUntilStopped, type Running } from '@dak/platform/lifecycle';
import { PostgresLog } from '@dak/platform/log';
import { createLogger } from '@dak/platform/logging';
import { createSharedState } from '@dak/platform/shared-state';
import { createMetrics, startTracing } from '@dak/platform/telemetry';
import { readMailConfig, readPrincipalKey, type MailConfig } from './config';
import { createMailService } from './service';

const STOP_GRACE_MS = 10_000;

/** The mail service as a process of its own, answering gRPC. */
async function start(config: MailConfig, environment: NodeJS.ProcessEnv): Promise<Running> {
  const logger = createLogger('mail', config.DAK_LOG_LEVEL);
  const gatewayKey = readPrincipalKey(config.DAK_PRINCIPAL_KEY_FILE);
  const verifier = new CallerVerifier(gatewayKey, config.DAK_SECRET);
  const stopTracing = await startTracing('mail', environment);
  const sharedState = await createSharedState({ url: config.DAK_REDIS_URL, keyPrefix: 'dak:' });
  const logPool = new pg.Pool({ connectionString: config.DAK_LOG_DATABASE_URL, max: 4 });
  const log = await PostgresLog.open({
    pool: logPool,
    onError: (error) => logger.warn({ err: error }, 'the event log is tried again'),
  });
  const mail = createMailService({
    databaseUrl: config.DAK_MAIL_DATABASE_URL,
    log,
    blobs: await FolderBlobStore.open(join(config.DAK_DATA_DIR, 'blobs')),
    sharedState,
    logger,
    metrics: createMetrics('mail'),
    secret: config.DAK_SECRET,
    hostName: config.DAK_HOSTNAME,
    smtp: { host: config.DAK_SMTP_HOST, port: config.DAK_SMTP_PORT },
    lmtp: { host: config.DAK_SMTP_HOST, port: config.DAK_LMTP_PORT },
    transport: config.DAK_MAIL_TRANSPORT,
    maxMessageBytes: config.DAK_MAX_MESSAGE_BYTES,
    inboundPerMinute: config.DAK_INBOUND_RATE_PER_MINUTE,
    parserThreads: config.DAK_PARSER_THREADS,
    readingWorkerFile: join(__dirname, 'reading-worker.js'),
    temporaryFolder: tmpdir(),
    journalFolder: join(config.DAK_DATA_DIR, 'journal'),
  });
  const server = await startGrpcServer({
    registry: mail.registry,
    verifier,
    host: config.DAK_GRPC_HOST,
    port: config.DAK_MAIL_GRPC_PORT,
    isReady: () => mail.ready(),
    onError: (error, path, requestId) =>
      logger.error({ err: error, path, request_id: requestId }, 'a call failed'),
  });
  const ports = await mail.start();
  logger.info({ grpc: server.port, ...ports }, 'the mail service answers');
  return {
    stop: async () => {
      await server.close(STOP_GRACE_MS);
      await mail.stop();
      await log.close();
      await logPool.end();
      await sharedState.close();
      await stopTracing();
    },
  };
}

void runUntilStopped(() => start(readMailConfig(process.env), process.env));
