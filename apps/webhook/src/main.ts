import { VisibilityServiceService } from '@dak/contracts/mail';
import { createClient, GrpcChannel, openGrpcTls, ServiceSigner } from '@dak/platform/grpc';
import { runUntilStopped, startInSteps, type Running } from '@dak/platform/lifecycle';
import { createLogger } from '@dak/platform/logging';
import { startServiceProcess } from '@dak/platform/service-process';
import { readWebhookConfig, type WebhookConfig } from './config';
import { createWebhookService } from './service';

/** Runs the webhook service as its own process, which answers gRPC. */
function start(config: WebhookConfig, environment: NodeJS.ProcessEnv): Promise<Running> {
  return startInSteps(async (onStop) => {
    const tls = openGrpcTls(config, createLogger('webhook', config.DAK_LOG_LEVEL));
    onStop(() => tls?.stop());
    const mail = new GrpcChannel(
      config.DAK_MAIL_GRPC_URL,
      new ServiceSigner(config.DAK_SECRET, 'webhook', 'mail'),
      tls,
    );
    onStop(() => mail.close());
    const running = await startServiceProcess({
      name: 'webhook',
      config,
      grpcPort: config.DAK_WEBHOOK_GRPC_PORT,
      environment,
      create: async ({ log, logger, metrics }) =>
        createWebhookService({
          log,
          logger,
          metrics,
          databaseUrl: config.DAK_WEBHOOK_DATABASE_URL,
          visibility: createClient(VisibilityServiceService, mail),
          secret: config.DAK_SECRET,
          processName: config.DAK_PROCESS_NAME,
          allow: config.DAK_WEBHOOK_ALLOW,
        }),
    });
    onStop(() => running.stop());
    return running.failed === undefined ? {} : { failed: running.failed };
  });
}

void runUntilStopped(() => start(readWebhookConfig(process.env), process.env));
