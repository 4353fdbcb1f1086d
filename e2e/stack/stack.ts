import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import pg from 'pg';
import { Registry } from 'prom-client';
import {
  combineBackends,
  createGateway,
  mailService,
  webhookService,
  type FirstRun,
  type Gateway,
} from '@dak/gateway';
import { createMailService } from '@dak/mail';
import { createWebhookService } from '@dak/webhook';
import { VisibilityServiceService } from '@dak/contracts/mail';
import { FolderBlobStore } from '@dak/platform/blobs';
import { DATABASES, type DatabaseName } from '@dak/platform/deployment';
import { createClient, InProcessChannel } from '@dak/platform/grpc';
import { freePort } from '@dak/platform/lifecycle';
import { PostgresLog } from '@dak/platform/log';
import { createLogger } from '@dak/platform/logging';
import { MemorySharedState } from '@dak/platform/shared-state';
import { startTracing } from '@dak/platform/telemetry';
import { ApiClient, replyValidator } from '@dak/testing/api-client';
import {
  createTestDatabase,
  type TestDatabase,
  type TestDatabaseOptions,
} from '@dak/testing/database';

export interface StackOptions {
  /** Of the mail service. @default one of its own */
  journalFolder?: string;
  /** @default 'capture' */
  transport?: string;
  /** @default 25 MB */
  maxMessageBytes?: number;
  /** `DAK_DNS_SERVERS`. @default 'off' */
  dnsServers?: string;
  /** `DAK_WEBHOOK_ALLOW`. @default '127.0.0.1' */
  webhookAllow?: string;
  /** `DAK_SMTP_CONNECTIONS_PER_CLIENT`. @default as many as there are: every client of a test is 127.0.0.1 */
  connectionsPerClient?: number;
  /** Certificate of STARTTLS. @default one that signs itself */
  smtpTls?: { cert: string; key: string };
  /** `OTEL_EXPORTER_OTLP_ENDPOINT`: who takes spans. @default nobody */
  otlpEndpoint?: string;
}

export type StackDatabases = Record<DatabaseName, TestDatabase>;

/** Everything that `npm start` runs, in the test's own process and on databases of its own. */
export interface Stack {
  gateway: Gateway;
  seed: FirstRun;
  /** Without a slash at the end. */
  siteUrl: string;
  smtpPort: number;
  lmtpPort: number;
  databases: StackDatabases;
  /** What failed inside since the start: nothing a client sends may end here. */
  failures: string[];
  /** Checks every reply against the OpenAPI document. */
  client(credential?: string): ApiClient;
  close(): Promise<void>;
}

const ROOT = resolve(__dirname, '../..');
const HOST = '127.0.0.1';
const MIGRATIONS: Record<DatabaseName, string> = {
  gateway: 'apps/gateway/prisma/migrations',
  mail: 'apps/mail/prisma/migrations',
  webhook: 'apps/webhook/prisma/migrations',
  log: 'libs/platform/log/migrations',
};

/** Composed as `standalone.ts` does. */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const undo: (() => unknown)[] = [];
  const close = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    return { ...(await compose(options, undo)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function compose(
  options: StackOptions,
  undo: (() => unknown)[],
): Promise<Omit<Stack, 'close'>> {
  if (options.otlpEndpoint !== undefined) undo.push(await traceTo(options.otlpEndpoint));
  const folder = mkdtempSync(join(tmpdir(), 'dak-stack-'));
  undo.push(() => rmSync(folder, { recursive: true, force: true }));
  const databases = await stackDatabases(undo);
  const failures: string[] = [];
  const logger = recordingLogger(failures);
  const sharedState = new MemorySharedState();
  undo.push(() => sharedState.close());
  const logPool = new pg.Pool({ connectionString: databases.log.url, max: 4 });
  undo.push(() => logPool.end());
  const log = await PostgresLog.open({
    pool: logPool,
    onError: (error) => failures.push(String(error)),
  });
  undo.push(() => log.close());

  const secret = 'a secret of tests with 32 characters';
  const mail = createMailService({
    databaseUrl: databases.mail.url,
    log,
    blobs: await FolderBlobStore.open(join(folder, 'blobs')),
    sharedState,
    logger,
    metrics: new Registry(),
    secret,
    hostName: 'dak.example',
    smtp: { host: HOST, port: 0 },
    lmtp: { host: HOST, port: 0 },
    transport: options.transport ?? 'capture',
    dnsServers: options.dnsServers ?? 'off',
    maxMessageBytes: options.maxMessageBytes ?? 25 * 1024 * 1024,
    inboundPerMinute: 1_000_000,
    connectionsPerClient: options.connectionsPerClient ?? 1_000,
    smtpTls: options.smtpTls ?? null,
    parserThreads: 1,
    readingWorkerFile: buildReadingWorker(folder),
    temporaryFolder: folder,
    journalFolder: options.journalFolder ?? join(folder, 'journal'),
  });
  undo.push(() => mail.stop());
  const { privateKey: sessionKey } = generateKeyPairSync('ed25519');
  const mailChannel = new InProcessChannel(mail.registry);
  const webhook = createWebhookService({
    databaseUrl: databases.webhook.url,
    log,
    visibility: createClient(VisibilityServiceService, mailChannel),
    logger,
    metrics: new Registry(),
    secret,
    allow: options.webhookAllow ?? '127.0.0.1',
  });
  undo.push(() => webhook.stop());
  const port = await freePort();
  const siteUrl = `http://${HOST}:${port}`;
  const gateway = createGateway({
    databaseUrl: databases.gateway.url,
    log,
    sharedState,
    logger,
    metrics: new Registry(),
    version: '0.0.0-test',
    siteUrl,
    secret,
    sessionKey,
    rateLimits: { readsPerMinute: 1_000_000, writesPerMinute: 1_000_000 },
    ...combineBackends([
      mailService(mailChannel),
      webhookService(new InProcessChannel(webhook.registry)),
    ]),
    dependencies: { mail: () => mail.ready(), webhook: () => webhook.ready() },
  });
  undo.push(() => gateway.close(1_000));
  const { smtp, lmtp } = await mail.start();
  await webhook.start();
  const seed = await gateway.ensureFirstRun();
  if (seed === null) throw new Error('the test database was not empty');
  await gateway.listen(port, HOST);
  const validate = replyValidator(gateway.openApi(true), gateway.routeTable());
  return {
    gateway,
    seed,
    siteUrl,
    smtpPort: smtp,
    lmtpPort: lmtp ?? 0,
    databases,
    failures,
    client: (credential) => new ApiClient(siteUrl, credential ?? null, validate),
  };
}

/** The variables of a run that sends its spans there, and soon. */
export function otlpSettings(endpoint: string): Record<string, string> {
  return { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_BSP_SCHEDULE_DELAY: '200' };
}

/** The exporter reads the environment of the process itself. @returns what ends it */
async function traceTo(endpoint: string): Promise<() => Promise<void>> {
  const settings = otlpSettings(endpoint);
  Object.assign(process.env, settings);
  const stop = await startTracing('dak', process.env);
  return async () => {
    await stop();
    for (const name of Object.keys(settings)) delete process.env[name];
  };
}

/** What a test database is made of. */
export function template(name: DatabaseName): TestDatabaseOptions {
  return { name, migrationsFolder: join(ROOT, MIGRATIONS[name]) };
}

/** One for each service and the log, each with its tables. */
export async function stackDatabases(undo: (() => unknown)[]): Promise<StackDatabases> {
  const databases: Partial<StackDatabases> = {};
  for (const name of DATABASES) {
    const database = await createTestDatabase(template(name));
    undo.push(() => database.drop());
    databases[name] = database;
  }
  return databases as StackDatabases;
}

/** The package's own executable: esbuild's API refuses the realm of Jest. */
function buildReadingWorker(folder: string): string {
  const outfile = join(folder, 'reading-worker.js');
  execFileSync(join(dirname(require.resolve('esbuild/package.json')), 'bin/esbuild'), [
    join(ROOT, 'apps/mail/src/mail-worker.ts'),
    '--bundle',
    '--platform=node',
    '--log-level=error',
    `--tsconfig=${join(ROOT, 'tsconfig.json')}`,
    `--outfile=${outfile}`,
  ]);
  return outfile;
}

/** Keeps errors, prints nothing. */
function recordingLogger(failures: string[]) {
  const logger = createLogger('stack', 'silent');
  logger.error = (fields: unknown, message?: unknown) => {
    const { err } = fields as { err?: Error };
    failures.push(`${String(message)}: ${err?.stack ?? JSON.stringify(fields)}`);
  };
  return logger;
}
