import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { createGateway, mailService, type Gateway } from '@dak/gateway';
import { createMailService } from '@dak/mail';
import { UnavailableError } from '@dak/kernel';
import type { Config, VariableName } from '@dak/platform/config';
import { startEmbeddedPostgres } from '@dak/platform/embedded-postgres';
import { InProcessChannel } from '@dak/platform/grpc';
import { freePort, type Running } from '@dak/platform/lifecycle';
import { PostgresLog } from '@dak/platform/log';
import { createLoggers, failureReport } from '@dak/platform/logging';
import { createSharedState } from '@dak/platform/shared-state';
import { createMetrics, startTracing } from '@dak/platform/telemetry';
import { FolderBlobStore } from '@dak/platform/blobs';
import { banner } from './banner';
import { BootstrapClient, type Bootstrap } from './bootstrap';
import { openDataFolder, writePrivateFile, type DataFolder } from './data-folder';
import { migrateAll } from './databases';

export const STANDALONE_VARIABLES = [
  'DAK_DATA_DIR',
  'DAK_HTTP_HOST',
  'DAK_HTTP_PORT',
  'DAK_SITE_URL',
  'DAK_SMTP_HOST',
  'DAK_SMTP_PORT',
  'DAK_LMTP_PORT',
  'DAK_HOSTNAME',
  'DAK_MAIL_TRANSPORT',
  'DAK_MAX_MESSAGE_BYTES',
  'DAK_INBOUND_RATE_PER_MINUTE',
  'DAK_READS_PER_MINUTE',
  'DAK_WRITES_PER_MINUTE',
  'DAK_LOG_LEVEL',
  'DAK_PARSER_THREADS',
  'DAK_DATABASE_URL',
  'DAK_REDIS_URL',
  'DAK_SECRET',
] as const satisfies readonly VariableName[];

type StandaloneConfig = Config<(typeof STANDALONE_VARIABLES)[number]>;

const ADMIN_EMAIL = 'admin@dak.example';
const STARTING = 'Dak is starting: bootstrap.json is not written yet.';
const SUPERADMIN_EMAIL = 'superadmin@dak.example';
const VERSION = (
  JSON.parse(readFileSync(join(__dirname, '../../package.json'), 'utf8')) as { version: string }
).version;

/** Every service in this process, over in-process channels, on an embedded PostgreSQL unless one is given. */
export async function startStandalone(
  config: StandaloneConfig,
  environment: NodeJS.ProcessEnv,
): Promise<Running> {
  const undo: (() => unknown)[] = [];
  const stop = async (): Promise<void> => {
    const errors: unknown[] = [];
    for (const step of undo.splice(0).reverse()) {
      // What cannot be stopped well (its database may be gone) must not keep the rest from it.
      await Promise.resolve()
        .then(step)
        .catch((error: unknown) => errors.push(error));
    }
    if (errors.length > 0) throw errors[0];
  };
  try {
    return { stop, ...(await start(config, environment, undo)) };
  } catch (error) {
    await stop().catch(() => undefined);
    throw error;
  }
}

async function start(
  config: StandaloneConfig,
  environment: NodeJS.ProcessEnv,
  undo: (() => unknown)[],
): Promise<Pick<Running, 'failed'>> {
  let isStarted = false;
  const logger = createLoggers(config.DAK_LOG_LEVEL);
  const data = openDataFolder(config.DAK_DATA_DIR);
  undo.push(() => data.release());
  const file = join(data.path, 'bootstrap.json');
  // Whoever waits for this file must not take the addresses of an earlier run for those of this one.
  rmSync(file, { force: true });
  undo.push(await startTracing('dak', environment));

  let adminUrl = config.DAK_DATABASE_URL;
  let end: Pick<Running, 'failed'> = {};
  if (adminUrl === undefined) {
    const postgres = await startEmbeddedPostgres(data.path);
    undo.push(() => postgres.stop());
    adminUrl = postgres.adminUrl;
    end = { failed: postgres.failed };
  }
  const databases = await migrateAll(adminUrl);
  const sharedState = await createSharedState({
    ...(config.DAK_REDIS_URL === undefined ? {} : { url: config.DAK_REDIS_URL }),
    keyPrefix: 'dak:',
  });
  undo.push(() => sharedState.close());
  const metrics = createMetrics('dak');
  const secret = config.DAK_SECRET ?? data.secrets.secret;

  const logPool = new pg.Pool({ connectionString: databases.log, max: 4 });
  undo.push(() => logPool.end());
  const log = await PostgresLog.open({
    pool: logPool,
    onError: failureReport(
      logger('log'),
      'the event log could not be worked on; it is tried again',
    ),
  });
  undo.push(() => log.close());

  const mail = createMailService({
    databaseUrl: databases.mail,
    log,
    blobs: await FolderBlobStore.open(join(data.path, 'blobs')),
    sharedState,
    logger: logger('mail'),
    metrics,
    secret,
    hostName: config.DAK_HOSTNAME,
    smtp: { host: config.DAK_SMTP_HOST, port: config.DAK_SMTP_PORT },
    lmtp: { host: config.DAK_SMTP_HOST, port: config.DAK_LMTP_PORT },
    transport: config.DAK_MAIL_TRANSPORT,
    maxMessageBytes: config.DAK_MAX_MESSAGE_BYTES,
    inboundPerMinute: config.DAK_INBOUND_RATE_PER_MINUTE,
    parserThreads: config.DAK_PARSER_THREADS,
    readingWorkerFile: join(__dirname, '../mail/reading-worker.js'),
    temporaryFolder: tmpdir(),
    journalFolder: join(data.path, 'journal'),
  });
  const addresses = await siteAddresses(config);
  const channel = new InProcessChannel(mail.registry);
  const gateway = createGateway({
    databaseUrl: databases.gateway,
    sharedState,
    logger: logger('gateway'),
    metrics,
    version: VERSION,
    siteUrl: addresses.site,
    secret,
    sessionKey: data.signingKey,
    rateLimits: {
      readsPerMinute: config.DAK_READS_PER_MINUTE,
      writesPerMinute: config.DAK_WRITES_PER_MINUTE,
    },
    ...mailService(channel),
    dependencies: {
      start: () => (isStarted ? Promise.resolve() : Promise.reject(new UnavailableError(STARTING))),
      mail: () => mail.ready(),
    },
    isTracing: environment['OTEL_EXPORTER_OTLP_ENDPOINT'] !== undefined,
  });
  undo.push(() => mail.stop());
  undo.push(() => gateway.close(10_000));

  await gateway.ensureFirstRun({ secrets: data.secrets.firstRun });
  const { smtp, lmtp } = await mail.start();
  const bootstrap = await listen(gateway, config, data, addresses, {
    smtp: { host: config.DAK_SMTP_HOST, port: smtp },
    lmtp: { host: config.DAK_SMTP_HOST, port: lmtp ?? 0 },
  });
  writePrivateFile(file, bootstrap);
  isStarted = true;
  process.stdout.write(banner(bootstrap, file, config.DAK_MAIL_TRANSPORT));
  return end;
}

type MailAddresses = Pick<Bootstrap, 'smtp' | 'lmtp'>;

/** Opens the API last, so that whoever reaches it finds everything running. */
async function listen(
  gateway: Gateway,
  config: StandaloneConfig,
  data: DataFolder,
  { port, local, site }: SiteAddresses,
  mail: MailAddresses,
): Promise<Bootstrap> {
  await gateway.listen(port, config.DAK_HTTP_HOST);
  const { firstRun } = data.secrets;
  const client = new BootstrapClient(`${local}/api/v1`, firstRun.apiKey);
  const isFirstRun = data.secrets.organizationId === null;
  const organizationId = (await client.organizationId()) ?? data.secrets.organizationId ?? '';
  if (isFirstRun) {
    await client.createDemoMailboxes();
    data.secrets.organizationId = organizationId;
    data.save();
  }
  return {
    base_url: `${site}/api/v1`,
    site_url: site,
    ...mail,
    organization_id: organizationId,
    admin: { email: ADMIN_EMAIL, password: firstRun.adminPassword },
    superadmin: { email: SUPERADMIN_EMAIL, password: firstRun.superadminPassword },
    api_key: firstRun.apiKey,
    mailboxes: await client.mailboxes(),
  };
}

interface SiteAddresses {
  port: number;
  /** Where this process itself reaches the API. */
  local: string;
  /** Where clients reach it; links are made with it. */
  site: string;
}

/** Links carry the port, so that a free one is chosen before anything is built. */
async function siteAddresses(config: StandaloneConfig): Promise<SiteAddresses> {
  const port = config.DAK_HTTP_PORT || (await freePort(config.DAK_HTTP_HOST));
  const local = `http://${reachable(config.DAK_HTTP_HOST)}:${port}`;
  return { port, local, site: (config.DAK_SITE_URL ?? local).replace(/\/$/, '') };
}

/** An address that means "all interfaces" cannot be called. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host.includes(':') ? `[${host === '::' ? '::1' : host}]` : host;
}
