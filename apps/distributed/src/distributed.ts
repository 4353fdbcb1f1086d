import { createPublicKey } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, unwatchFile, watchFile, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  banner,
  createBootstrap,
  DATABASES,
  migrateAll,
  namedDatabases,
  openDataFolder,
  readProcessName,
  siteAddresses,
  SUPERADMIN_EMAIL,
  withFirstPasswords,
  writePrivateFile,
  type Bootstrap,
  type DatabaseUrls,
  type DataFolder,
} from '@dak/platform/deployment';
import { SERVICES } from '@dak/platform/config';
import { startInSteps, type OnStop, type Running } from '@dak/platform/lifecycle';
import { createLogger, type Logger } from '@dak/platform/logging';
import type { DistributedConfig } from './config';
import { planReplicas, type PlanInput, type ReplicaPlan } from './plan-replicas';
import type { ReplicaCounts } from './replica-counts';
import { SupervisedProcess } from './supervised-process';

/** `bootstrap.json` of a distributed run. */
export interface DistributedBootstrap extends Bootstrap {
  /** `http`: URL of the API or of the probes; `metrics`: of /metrics; `grpc`: `host:port`, null for the gateway. */
  processes: {
    service: string;
    pid: number;
    http: string;
    metrics: string;
    grpc: string | null;
  }[];
}

interface Supervised {
  plan: ReplicaPlan;
  process: SupervisedProcess;
}

/** Beside this bundle, see `scripts/build.mjs`. */
const BUNDLES = join(__dirname, '..');
const PASSWORDS_LOOK_MS = 500;
const NODE_FLAGS = ['--max-semi-space-size=16'];
/** What is under way in the gateways ends first; together less than the 30 s that a stop may take. */
const GATEWAY_GRACE_MS = 12_000;
const SERVICE_GRACE_MS = 14_000;

/** Runs every service as separate processes, with the addresses of this run in `bootstrap.json`. */
export function startDistributed(
  config: DistributedConfig,
  counts: ReplicaCounts,
  environment: NodeJS.ProcessEnv,
): Promise<Running> {
  return startInSteps((onStop) => start(config, counts, environment, onStop));
}

async function start(
  config: DistributedConfig,
  counts: ReplicaCounts,
  environment: NodeJS.ProcessEnv,
  onStop: OnStop,
): Promise<void> {
  const logger = createLogger('distributed', config.DAK_LOG_LEVEL);
  const data = openDataFolder(config.DAK_DATA_DIR);
  onStop(() => data.release());
  const file = join(data.path, 'bootstrap.json');
  // Whoever waits for this file must not take the addresses of an earlier run for those of this one.
  rmSync(file, { force: true });
  const addresses = await siteAddresses(config);
  const files = writeFilesOfServices(data);
  const { replicas, smtp, lmtp } = await planReplicas({
    config,
    counts,
    addresses,
    dataFolder: data.path,
    folderName: await readProcessName(join(data.path, 'services')),
    databases: await migrated(config),
    secret: config.DAK_SECRET ?? data.secrets.secret,
    files,
  });

  let bootstrap: Bootstrap | null = null;
  const supervised: Supervised[] = [];
  const tell = (): void => {
    if (bootstrap === null) return;
    const current = withFirstPasswords(bootstrap, data.secrets.firstRun);
    writePrivateFile(file, { ...current, ...processesOf(supervised) });
  };
  for (const plan of replicas) {
    supervised.push({ plan, process: supervise(plan, environment, logger, tell) });
  }
  onStop(() => stopAll(supervised));
  for (const service of SERVICES) {
    await Promise.all(
      supervised
        .filter(({ plan }) => plan.service === service)
        .map(({ process: one }) => one.start()),
    );
  }
  onStop(watchFirstPasswords(files.firstRun, data, tell));
  bootstrap = await createBootstrap(
    data,
    addresses,
    { smtp, lmtp },
    config.DAK_SUPERADMIN_EMAIL ?? SUPERADMIN_EMAIL,
  );
  const first = replicas.find(({ service }) => service === 'gateway');
  if (first !== undefined) bootstrap.metrics_url = `${first.metrics}/metrics`;
  tell();
  process.stdout.write(banner(bootstrap, file, config.DAK_MAIL_TRANSPORT));
}

/** The databases that are not named one by one are made and migrated with the administrator's URL. */
async function migrated(config: DistributedConfig): Promise<DatabaseUrls> {
  const own = namedDatabases(config);
  const rest = DATABASES.filter((name) => own[name] === undefined);
  if (rest.length === 0 || config.DAK_DATABASE_URL === undefined) return own as DatabaseUrls;
  const made = await migrateAll({
    adminUrl: config.DAK_DATABASE_URL,
    migrations: join(BUNDLES, 'migrations'),
    databases: rest,
  });
  return { ...made, ...own };
}

/** What the services read from files, for this user alone: the gateway's key, its public half, the first-run secrets. */
function writeFilesOfServices({ path, secrets, signingKey }: DataFolder): PlanInput['files'] {
  const folder = join(path, 'services');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const files = {
    privateKey: join(folder, 'gateway-key.pem'),
    publicKey: join(folder, 'gateway-key.pub.pem'),
    firstRun: join(folder, 'first-run.json'),
  };
  const publicKey = createPublicKey(signingKey).export({ type: 'spki', format: 'pem' });
  writeFileSync(files.privateKey, secrets.signingKey, { mode: 0o600 });
  writeFileSync(files.publicKey, publicKey, { mode: 0o600 });
  writePrivateFile(files.firstRun, secrets.firstRun);
  return files;
}

/** A gateway takes a first password that was changed out of its file; this folder follows. */
function watchFirstPasswords(file: string, data: DataFolder, tell: () => void): () => void {
  const follow = (): void => {
    try {
      const named = JSON.parse(readFileSync(file, 'utf8')) as DataFolder['secrets']['firstRun'];
      const { firstRun } = data.secrets;
      if (named.adminPassword !== null) named.adminPassword = firstRun.adminPassword;
      if (named.superadminPassword !== null) named.superadminPassword = firstRun.superadminPassword;
      data.secrets.firstRun = { ...named, apiKey: firstRun.apiKey };
      data.save();
      tell();
    } catch {
      // Being replaced at this moment: the next look finds it.
    }
  };
  watchFile(file, { interval: PASSWORDS_LOOK_MS, persistent: false }, follow);
  return () => unwatchFile(file, follow);
}

function supervise(
  plan: ReplicaPlan,
  environment: NodeJS.ProcessEnv,
  logger: Logger,
  onRestarted: () => void,
): SupervisedProcess {
  return new SupervisedProcess({
    name: `${plan.service} ${plan.number}`,
    program: join(BUNDLES, plan.service, 'main.js'),
    args: NODE_FLAGS,
    environment: { ...withoutDatabases(environment), ...plan.environment },
    probeUrl: plan.metrics,
    logger,
    onRestarted,
  });
}

/** A service gets the URL of its own database only. */
function withoutDatabases(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(environment).filter(([name]) => !/^DAK_(\w+_)?DATABASE_URL$/.test(name)),
  );
}

async function stopAll(supervised: readonly Supervised[]): Promise<void> {
  const stop = (isGateway: boolean, graceMs: number) =>
    Promise.all(
      supervised
        .filter(({ plan }) => (plan.service === 'gateway') === isGateway)
        .map(({ process: one }) => one.stop(graceMs)),
    );
  await stop(true, GATEWAY_GRACE_MS);
  await stop(false, SERVICE_GRACE_MS);
}

function processesOf(supervised: readonly Supervised[]): Pick<DistributedBootstrap, 'processes'> {
  return {
    processes: supervised.map(({ plan, process: one }) => ({
      service: plan.service,
      pid: one.pid,
      http: plan.http,
      metrics: `${plan.metrics}/metrics`,
      grpc: plan.grpc,
    })),
  };
}
