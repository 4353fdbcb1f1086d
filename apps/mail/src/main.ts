import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runUntilStopped, type Running } from '@dak/platform/lifecycle';
import { startServiceProcess } from '@dak/platform/service-process';
import { registerDiskGauges } from '@dak/platform/telemetry';
import { pemPaths } from '@dak/platform/tls-files';
import { readMailConfig, type MailConfig } from './config';
import { openBlobs } from './db/open-blobs';
import { createMailService } from './service';

/** The mail service as a separate process, serving gRPC. */
function start(config: MailConfig, environment: NodeJS.ProcessEnv): Promise<Running> {
  return startServiceProcess({
    name: 'mail',
    config,
    grpcPort: config.DAK_MAIL_GRPC_PORT,
    environment,
    create: async (parts) => {
      registerDiskGauges(parts.metrics, config.DAK_DATA_DIR);
      return createMailService({
        ...parts,
        databaseUrl: config.DAK_MAIL_DATABASE_URL,
        blobs: await openBlobs(config.DAK_DATA_DIR, parts.logger),
        secret: config.DAK_SECRET,
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
        readingWorkerFile: join(__dirname, 'reading-worker.js'),
        temporaryFolder: tmpdir(),
        journalFolder: config.DAK_JOURNAL_DIR ?? join(config.DAK_DATA_DIR, 'journal'),
      });
    },
  });
}

void runUntilStopped(() => start(readMailConfig(process.env), process.env));
