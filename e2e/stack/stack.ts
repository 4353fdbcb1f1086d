import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import pg from 'pg';
import { Registry } from 'prom-client';
import { createGateway, type FirstRun, type Gateway } from '@dak/gateway';
import { COMPOSED_VARIABLES, composeServices } from '@dak/standalone';
import { FolderBlobStore } from '@dak/platform/blobs';
import { BACKENDS, readConfig } from '@dak/platform/config';
import { freePort } from '@dak/platform/lifecycle';
import { PostgresLog } from '@dak/platform/log';
import { createLogger } from '@dak/platform/logging';
import { MemorySharedState } from '@dak/platform/shared-state';
import { startTracing } from '@dak/platform/telemetry';
import { ApiClient, replyValidator } from '@dak/testing/api-client';
import { databaseUrls, stackDatabases, type StackDatabases } from './stack-databases';
import { otlpSettings, settingsOf, type StackOptions } from './stack-options';

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

/** Composed as a standalone run does. */
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
  const { services, behindGateway, start } = composeServices({
    config: readConfig(COMPOSED_VARIABLES, {
      ...settingsOf(options),
      DAK_HOSTNAME: 'dak.example',
      DAK_SMTP_PORT: '0',
      DAK_LMTP_PORT: '0',
    }),
    databases: databaseUrls(databases),
    log,
    blobs: await FolderBlobStore.open(join(folder, 'blobs')),
    sharedState,
    loggerOf: () => logger,
    metrics: new Registry(),
    secret,
    journalFolder: options.journalFolder ?? join(folder, 'journal'),
    readingWorkerFile: buildReadingWorker(folder),
  });
  for (const name of BACKENDS) undo.push(() => services[name].stop());
  const { privateKey: sessionKey } = generateKeyPairSync('ed25519');
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
    ...behindGateway,
  });
  undo.push(() => gateway.close(1_000));
  const { smtp, lmtp } = await start();
  const seed = await gateway.ensureFirstRun();
  if (seed === null) throw new Error('the test database was not empty');
  await gateway.listen(port, HOST);
  const validate = replyValidator(gateway.openApi(true), gateway.routeTable());
  return {
    gateway,
    seed,
    siteUrl,
    smtpPort: smtp,
    lmtpPort: lmtp,
    databases,
    failures,
    client: (credential) => new ApiClient(siteUrl, credential ?? null, validate),
  };
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
