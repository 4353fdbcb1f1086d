import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createGateway } from '@dak/gateway';
import { openBlobs } from '@dak/mail';
import { BACKENDS, type Config, type VariableName } from '@dak/platform/config';
import {
  DATABASES,
  banner,
  createBootstrap,
  forgetFirstPassword,
  migrateAll,
  openDataFolder,
  readProcessName,
  reachableHost,
  siteAddresses,
  SUPERADMIN_EMAIL,
  withFirstPasswords,
  type Bootstrap,
  writePrivateFile,
} from '@dak/platform/deployment';
import { scrubDatabases, startEmbeddedPostgres } from '@dak/platform/embedded-postgres';
import { startInSteps, type OnStop, type Running } from '@dak/platform/lifecycle';
import { KAFKA_VARIABLES, openLog } from '@dak/platform/log';
import { createLoggers } from '@dak/platform/logging';
import { startProbeServer } from '@dak/platform/probes';
import { createSharedState } from '@dak/platform/shared-state';
import { createMetrics, registerDiskGauges, startTracing } from '@dak/platform/telemetry';
import { pemPaths } from '@dak/platform/tls-files';
import { COMPOSED_VARIABLES, composeServices } from './service';

export const STANDALONE_VARIABLES = [
  'DAK_DATA_DIR',
  'DAK_HTTP_HOST',
  'DAK_HTTP_PORT',
  'DAK_SITE_URL',
  ...COMPOSED_VARIABLES,
  'DAK_READS_PER_MINUTE',
  'DAK_WRITES_PER_MINUTE',
  'DAK_AUTH_PER_MINUTE',
  'DAK_ANONYMOUS_PER_MINUTE',
  'DAK_TRUSTED_PROXIES',
  'DAK_HTTPS_CERT',
  'DAK_HTTPS_KEY',
  'DAK_SUPERADMIN_EMAIL',
  'DAK_METRICS_HOST',
  'DAK_METRICS_PORT',
  'DAK_LOG_LEVEL',
  'DAK_DATABASE_URL',
  'DAK_REDIS_URL',
  'DAK_REDIS_PREFIX',
  ...KAFKA_VARIABLES,
  'DAK_SECRET',
] as const satisfies readonly VariableName[];

type StandaloneConfig = Config<(typeof STANDALONE_VARIABLES)[number]>;

/** Beside the bundle, see `scripts/build.mjs`. */
const MIGRATIONS = join(__dirname, '../migrations');
const VERSION = (
  JSON.parse(readFileSync(join(__dirname, '../../package.json'), 'utf8')) as { version: string }
).version;

/** Every service in this process, over in-process channels, on an embedded PostgreSQL unless one is given. */
export function startStandalone(
  config: StandaloneConfig,
  environment: NodeJS.ProcessEnv,
): Promise<Running> {
  return startInSteps((onStop) => start(config, environment, onStop));
}

async function start(
  config: StandaloneConfig,
  environment: NodeJS.ProcessEnv,
  onStop: OnStop,
): Promise<Pick<Running, 'failed'>> {
  let isStarted = false;
  const logger = createLoggers(config.DAK_LOG_LEVEL);
  const data = openDataFolder(config.DAK_DATA_DIR);
  onStop(() => data.release());
  const file = join(data.path, 'bootstrap.json');
  // Whoever waits for this file must not take the addresses of an earlier run for those of this one.
  rmSync(file, { force: true });
  onStop(await startTracing('dak', environment));

  let adminUrl = config.DAK_DATABASE_URL;
  let failed = new Promise<Error>(() => undefined);
  if (adminUrl === undefined) {
    const postgres = await startEmbeddedPostgres(data.path);
    onStop(() => postgres.stop());
    ({ adminUrl, failed } = postgres);
  }
  const databases = await migrateAll({ adminUrl, migrations: MIGRATIONS });
  const sharedState = await createSharedState({
    ...(config.DAK_REDIS_URL === undefined ? {} : { url: config.DAK_REDIS_URL }),
    keyPrefix: config.DAK_REDIS_PREFIX,
  });
  onStop(() => sharedState.close());
  const metrics = createMetrics('dak');
  registerDiskGauges(metrics, data.path);
  const secret = config.DAK_SECRET ?? data.secrets.secret;

  // Only one process works in the data folder: whoever took leases under this name before is gone.
  const processName = await readProcessName(join(data.path, 'journal'));
  const events = await openLog({
    databaseUrl: databases.log,
    config,
    logger: logger('log'),
    metrics,
    processName,
  });
  onStop(() => events.close());

  const {
    services,
    behindGateway,
    start: startServices,
  } = composeServices({
    config,
    databases,
    log: events.log,
    blobs: await openBlobs(data.path, logger('mail')),
    sharedState,
    loggerOf: logger,
    metrics,
    secret,
    processName,
    journalFolder: join(data.path, 'journal'),
    readingWorkerFile: join(__dirname, '../mail/reading-worker.js'),
  });
  for (const name of BACKENDS) onStop(() => services[name].stop());
  const addresses = await siteAddresses(config);
  const superadminEmail = config.DAK_SUPERADMIN_EMAIL ?? SUPERADMIN_EMAIL;
  let told: Bootstrap | null = null;
  const tell = (bootstrap: Bootstrap): void => {
    told = withFirstPasswords(bootstrap, data.secrets.firstRun);
    writePrivateFile(file, told);
  };
  const gateway = createGateway({
    databaseUrl: databases.gateway,
    log: events.log,
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
      authPerMinute: config.DAK_AUTH_PER_MINUTE,
      ...(config.DAK_ANONYMOUS_PER_MINUTE === undefined
        ? {}
        : { anonymousPerMinute: config.DAK_ANONYMOUS_PER_MINUTE }),
    },
    trustedProxies: config.DAK_TRUSTED_PROXIES,
    tls: pemPaths('DAK_HTTPS', config.DAK_HTTPS_CERT, config.DAK_HTTPS_KEY),
    onPasswordChanged: async (email) => {
      if (!forgetFirstPassword(data.secrets.firstRun, email, superadminEmail)) return;
      data.save();
      if (told !== null) tell(told);
    },
    ...behindGateway,
    isStarted: () => isStarted,
    ...(config.DAK_DATABASE_URL === undefined && {
      scrub: () =>
        scrubDatabases(
          adminUrl,
          DATABASES.map((name) => `dak_${name}`),
          { isOurs: true },
        ),
    }),
  });
  onStop(() => gateway.close(10_000));

  await gateway.ensureFirstRun({ secrets: data.secrets.firstRun, superadminEmail });
  const { smtp, lmtp } = await startServices();
  const probes = await startProbeServer({
    probes: gateway.probes,
    host: config.DAK_METRICS_HOST,
    port: config.DAK_METRICS_PORT,
  });
  onStop(() => probes.close());
  // The API opens last, so that whoever reaches it finds everything running.
  await gateway.listen(addresses.port, config.DAK_HTTP_HOST);
  const bootstrap = await createBootstrap(
    data,
    addresses,
    {
      smtp: { host: config.DAK_SMTP_HOST, port: smtp },
      lmtp: { host: config.DAK_SMTP_HOST, port: lmtp },
    },
    superadminEmail,
  );
  bootstrap.metrics_url = `http://${reachableHost(config.DAK_METRICS_HOST)}:${probes.port}/metrics`;
  tell(bootstrap);
  isStarted = true;
  process.stdout.write(banner(bootstrap, file, config.DAK_MAIL_TRANSPORT));
  return { failed: Promise.race([failed, events.failed]) };
}
