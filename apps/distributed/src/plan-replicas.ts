import { join } from 'node:path';
import { BACKENDS, SERVICES, serviceVariable, type ServiceName } from '@dak/platform/config';
import { reachableHost, type DatabaseUrls, type SiteAddresses } from '@dak/platform/deployment';
import { freePort } from '@dak/platform/lifecycle';
import type { DistributedConfig } from './config';
import type { ReplicaCounts } from './replica-counts';

/** One process to be: where it answers, and its settings. The addresses stay over its restarts. */
export interface ReplicaPlan {
  service: ServiceName;
  /** From 1, within its service. */
  number: number;
  /** URL of its probes, of the gateway that of the site; without a slash at the end. */
  http: string;
  /** URL of its metrics and probes, without a slash at the end. */
  metrics: string;
  /** `host:port`; null for the gateway. */
  grpc: string | null;
  environment: Record<string, string>;
}

export interface DistributedPlan {
  replicas: readonly ReplicaPlan[];
  smtp: { host: string; port: number };
  lmtp: { host: string; port: number };
}

export interface PlanInput {
  config: DistributedConfig;
  counts: ReplicaCounts;
  /** Absolute. */
  dataFolder: string;
  /** Unique to this data folder. */
  folderName: string;
  databases: DatabaseUrls;
  addresses: SiteAddresses;
  secret: string;
  files: { privateKey: string; publicKey: string; firstRun: string };
}

/** Chooses an address for everything that listens, and from these the settings of every process. */
export async function planReplicas(input: PlanInput): Promise<DistributedPlan> {
  const { config, counts } = input;
  const addresses = new Map<ServiceName, string[]>();
  for (const service of BACKENDS) {
    addresses.set(service, await freeAddresses(config.DAK_GRPC_HOST, counts[service]));
  }
  const everybody = {
    DAK_DATA_DIR: input.dataFolder,
    DAK_SECRET: input.secret,
    DAK_LOG_DATABASE_URL: input.databases.log,
    ...Object.fromEntries(
      [...addresses].map(([service, urls]) => [
        serviceVariable(service, 'GRPC_URL'),
        urls.join(','),
      ]),
    ),
  };
  const smtp = config.DAK_SMTP_PORT || (await freePort(config.DAK_SMTP_HOST));
  const lmtp = config.DAK_LMTP_PORT || (await freePort(config.DAK_SMTP_HOST));
  const replicas: ReplicaPlan[] = [];
  for (const service of SERVICES) {
    for (let number = 1; number <= counts[service]; number += 1) {
      const grpc = addresses.get(service)?.[number - 1] ?? null;
      const planned =
        grpc === null
          ? await planGateway(input, number)
          : await planService(input, service, number, grpc);
      const own = service === 'mail' ? mailSettings(input, number, { smtp, lmtp }) : {};
      const database = { [serviceVariable(service, 'DATABASE_URL')]: input.databases[service] };
      const name = { DAK_PROCESS_NAME: `${input.folderName}-${service}-${number}` };
      const environment = { ...everybody, ...name, ...database, ...planned.environment, ...own };
      replicas.push({ service, number, grpc, ...planned, environment });
    }
  }
  return {
    replicas,
    smtp: { host: config.DAK_SMTP_HOST, port: smtp },
    lmtp: { host: config.DAK_SMTP_HOST, port: lmtp },
  };
}

type Planned = Pick<ReplicaPlan, 'http' | 'metrics' | 'environment'>;

/** The first one has the address of the site. */
async function planGateway(input: PlanInput, number: number): Promise<Planned> {
  const { config, addresses, files } = input;
  const port = number === 1 ? addresses.port : await freePort(config.DAK_HTTP_HOST);
  const protocol = addresses.certificateFile === null ? 'http' : 'https';
  const given = number === 1 ? config.DAK_METRICS_PORT : 0;
  const metricsPort = given || (await freePort(config.DAK_METRICS_HOST));
  return {
    http: `${protocol}://${reachableHost(config.DAK_HTTP_HOST)}:${port}`,
    metrics: `http://${reachableHost(config.DAK_METRICS_HOST)}:${metricsPort}`,
    environment: {
      DAK_METRICS_PORT: String(metricsPort),
      DAK_HTTP_PORT: String(port),
      DAK_SITE_URL: addresses.site,
      DAK_PRINCIPAL_KEY_FILE: files.privateKey,
      DAK_FIRST_RUN_FILE: files.firstRun,
    },
  };
}

async function planService(
  { config, files }: PlanInput,
  service: ServiceName,
  number: number,
  grpc: string,
): Promise<Planned> {
  const port = await freePort(config.DAK_METRICS_HOST);
  const metrics = `http://${reachableHost(config.DAK_METRICS_HOST)}:${port}`;
  return {
    http: metrics,
    metrics,
    environment: {
      DAK_METRICS_PORT: String(port),
      [serviceVariable(service, 'GRPC_PORT')]: grpc.slice(grpc.lastIndexOf(':') + 1),
      DAK_PRINCIPAL_KEY_FILE: files.publicKey,
    },
  };
}

/** The first one has the ports for mail, and goes on with the journal of a standalone run in the same folder. */
function mailSettings(
  { dataFolder }: PlanInput,
  number: number,
  ports: { smtp: number; lmtp: number },
): Record<string, string> {
  return {
    DAK_SMTP_PORT: String(number === 1 ? ports.smtp : 0),
    DAK_LMTP_PORT: String(number === 1 ? ports.lmtp : 0),
    DAK_JOURNAL_DIR: join(dataFolder, number === 1 ? 'journal' : `journal-${number}`),
  };
}

async function freeAddresses(host: string, count: number): Promise<string[]> {
  const addresses: string[] = [];
  for (let i = 0; i < count; i += 1) {
    addresses.push(`${reachableHost(host)}:${await freePort(host)}`);
  }
  return addresses;
}
