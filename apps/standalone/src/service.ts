import { tmpdir } from 'node:os';
import type { Registry } from 'prom-client';
import { backendOver, type GatewayOptions } from '@dak/gateway';
import { createMailRetention, createMailService } from '@dak/mail';
import { createWebhookRetention, createWebhookService } from '@dak/webhook';
import { VisibilityServiceService } from '@dak/contracts/mail';
import type { BlobStore } from '@dak/platform/blobs';
import {
  BACKENDS,
  ofEachBackend,
  type BackendName,
  type Config,
  type VariableName,
} from '@dak/platform/config';
import { createClient, InProcessChannel, type ServiceRegistry } from '@dak/platform/grpc';
import type { Log } from '@dak/platform/log';
import type { Logger } from '@dak/platform/logging';
import type { Service } from '@dak/platform/service-process';
import type { SharedState } from '@dak/platform/shared-state';
import { pemPaths } from '@dak/platform/tls-files';

/** What the services read. */
export const COMPOSED_VARIABLES = [
  'DAK_SMTP_HOST',
  'DAK_SMTP_PORT',
  'DAK_LMTP_PORT',
  'DAK_HOSTNAME',
  'DAK_MAIL_TRANSPORT',
  'DAK_DNS_SERVERS',
  'DAK_MAX_MESSAGE_BYTES',
  'DAK_INBOUND_RATE_PER_MINUTE',
  'DAK_SMTP_CONNECTIONS_PER_CLIENT',
  'DAK_SMTP_TLS_CERT',
  'DAK_SMTP_TLS_KEY',
  'DAK_PARSER_THREADS',
  'DAK_WEBHOOK_ALLOW',
] as const satisfies readonly VariableName[];

type DatabasesOfServices = Readonly<Record<BackendName, string>>;

export interface ComposedParts {
  config: Config<(typeof COMPOSED_VARIABLES)[number]>;
  databases: DatabasesOfServices;
  log: Log;
  blobs: BlobStore;
  sharedState: SharedState;
  loggerOf: (service: BackendName) => Logger;
  metrics: Registry;
  secret: string;
  /** Of this process alone, the same in all its lives. */
  processName?: string;
  /** Of the mail service of this process alone. */
  journalFolder: string;
  /** The bundled reading worker. */
  readingWorkerFile: string;
}

export interface ComposedServices {
  services: Readonly<Record<BackendName, Service>>;
  /** For `createGateway`. */
  behindGateway: Pick<GatewayOptions, keyof ReturnType<typeof backendOver> | 'dependencies'>;
  /** Takes up the work of all, in their order. @returns where mail comes in */
  start: () => Promise<{ smtp: number; lmtp: number }>;
}

/** Every service behind the gateway in this process, joined over in-process channels. */
export function composeServices(parts: ComposedParts): ComposedServices {
  const { config, databases, log, loggerOf, metrics, secret } = parts;
  const mail = createMailService({
    databaseUrl: databases.mail,
    log,
    blobs: parts.blobs,
    sharedState: parts.sharedState,
    logger: loggerOf('mail'),
    metrics,
    secret,
    hostName: config.DAK_HOSTNAME,
    smtp: { host: config.DAK_SMTP_HOST, port: config.DAK_SMTP_PORT },
    lmtp: { host: config.DAK_SMTP_HOST, port: config.DAK_LMTP_PORT },
    transport: config.DAK_MAIL_TRANSPORT,
    dnsServers: config.DAK_DNS_SERVERS,
    maxMessageBytes: config.DAK_MAX_MESSAGE_BYTES,
    inboundPerMinute: config.DAK_INBOUND_RATE_PER_MINUTE,
    connectionsPerClient: config.DAK_SMTP_CONNECTIONS_PER_CLIENT,
    smtpTls: pemPaths('DAK_SMTP_TLS', config.DAK_SMTP_TLS_CERT, config.DAK_SMTP_TLS_KEY),
    parserThreads: config.DAK_PARSER_THREADS,
    readingWorkerFile: parts.readingWorkerFile,
    temporaryFolder: tmpdir(),
    journalFolder: parts.journalFolder,
  });
  const webhook = createWebhookService({
    databaseUrl: databases.webhook,
    log,
    visibility: createClient(VisibilityServiceService, new InProcessChannel(mail.registry)),
    logger: loggerOf('webhook'),
    metrics,
    secret,
    processName: parts.processName,
    allow: config.DAK_WEBHOOK_ALLOW,
  });
  const services = { mail, webhook };
  return {
    services,
    behindGateway: {
      ...backendOver(channelsTo(services)),
      dependencies: ofEachBackend((name) => () => services[name].ready()),
    },
    start: async () => {
      const { smtp, lmtp } = await mail.start();
      for (const name of BACKENDS) if (name !== 'mail') await services[name].start();
      return { smtp, lmtp: lmtp ?? 0 };
    },
  };
}

/** What of the services removes what is kept no longer, by itself. */
export function composeRetention(databases: DatabasesOfServices, blobs: BlobStore) {
  const removers = {
    mail: createMailRetention({ databaseUrl: databases.mail, blobs }),
    webhook: createWebhookRetention({ databaseUrl: databases.webhook }),
  };
  return {
    behindGateway: backendOver(channelsTo(removers)),
    async close() {
      for (const name of BACKENDS) await removers[name].close();
    },
  };
}

function channelsTo(services: Readonly<Record<BackendName, { registry: ServiceRegistry }>>) {
  return ofEachBackend((name) => new InProcessChannel(services[name].registry));
}
