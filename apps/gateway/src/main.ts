import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ofEachBackend, serviceVariable, type BackendName } from '@dak/platform/config';
import { GrpcChannel, openGrpcTls, PrincipalSigner } from '@dak/platform/grpc';
import { runUntilStopped, startInSteps, type Running } from '@dak/platform/lifecycle';
import { openLog } from '@dak/platform/log';
import { createLogger } from '@dak/platform/logging';
import { startProbeServer } from '@dak/platform/probes';
import { createSharedState } from '@dak/platform/shared-state';
import { createMetrics, startTracing } from '@dak/platform/telemetry';
import { pemPaths } from '@dak/platform/tls-files';
import { backendOver } from './backends';
import { readFirstRunFile, readGatewayConfig, readSigningKey, type GatewayConfig } from './config';
import { firstStart, forgetInFile } from './first-start';
import { createGateway } from './service';

/** Beside the bundle, two folders up. */
const PACKAGE_FILE = join(__dirname, '../../package.json');

/** The gateway as a separate process, with the services behind gRPC. */
function start(config: GatewayConfig, environment: NodeJS.ProcessEnv): Promise<Running> {
  const logger = createLogger('gateway', config.DAK_LOG_LEVEL);
  const { version } = JSON.parse(readFileSync(PACKAGE_FILE, 'utf8')) as { version: string };
  const sessionKey = readSigningKey(config.DAK_PRINCIPAL_KEY_FILE);
  const first = { file: config.DAK_FIRST_RUN_FILE, superadminEmail: config.DAK_SUPERADMIN_EMAIL };
  if (first.file !== undefined) readFirstRunFile(first.file);
  const httpsFiles = pemPaths('DAK_HTTPS', config.DAK_HTTPS_CERT, config.DAK_HTTPS_KEY);
  const protocol = httpsFiles === null ? 'http' : 'https';
  return startInSteps(async (onStop) => {
    onStop(await startTracing('gateway', environment));
    const sharedState = await createSharedState({
      url: config.DAK_REDIS_URL,
      keyPrefix: config.DAK_REDIS_PREFIX,
    });
    onStop(() => sharedState.close());
    const metrics = createMetrics('gateway');
    const events = await openLog({
      databaseUrl: config.DAK_LOG_DATABASE_URL,
      config,
      logger,
      metrics,
      processName: config.DAK_PROCESS_NAME,
    });
    onStop(() => events.close());
    const tls = openGrpcTls(config, logger);
    onStop(() => tls?.stop());
    const channelTo = (service: BackendName): GrpcChannel => {
      const addresses = config[serviceVariable(service, 'GRPC_URL')];
      const channel = new GrpcChannel(addresses, new PrincipalSigner(sessionKey, service), tls);
      onStop(() => channel.close());
      return channel;
    };
    const channels = ofEachBackend(channelTo);
    // Ready means reachable: a client that waits for the probe calls the API next.
    let isListening = false;
    const gateway = createGateway({
      databaseUrl: config.DAK_GATEWAY_DATABASE_URL,
      log: events.log,
      sharedState,
      logger,
      metrics,
      version,
      siteUrl:
        config.DAK_SITE_URL ?? `${protocol}://${config.DAK_HTTP_HOST}:${config.DAK_HTTP_PORT}`,
      secret: config.DAK_SECRET,
      sessionKey,
      rateLimits: {
        readsPerMinute: config.DAK_READS_PER_MINUTE,
        writesPerMinute: config.DAK_WRITES_PER_MINUTE,
        authPerMinute: config.DAK_AUTH_PER_MINUTE,
        ...(config.DAK_ANONYMOUS_PER_MINUTE === undefined
          ? {}
          : { anonymousPerMinute: config.DAK_ANONYMOUS_PER_MINUTE }),
      },
      trustedProxies: config.DAK_TRUSTED_PROXIES,
      tls: httpsFiles,
      onPasswordChanged: async (email) => forgetInFile(first, email),
      ...backendOver(channels),
      isStarted: () => isListening,
      dependencies: ofEachBackend((name) => () => channels[name].ping()),
    });
    onStop(() => gateway.close());
    const madeUp = await firstStart(gateway, first);
    const probes = await startProbeServer({
      probes: gateway.probes,
      host: config.DAK_METRICS_HOST,
      port: config.DAK_METRICS_PORT,
    });
    onStop(() => probes.close());
    const { port } = await gateway.listen(config.DAK_HTTP_PORT, config.DAK_HTTP_HOST);
    isListening = true;
    logger.info({ port, metrics: probes.port }, 'the gateway answers');
    // Printed only here: these secrets cannot be read again.
    if (madeUp !== null) {
      process.stdout.write(`${JSON.stringify({ first_run: madeUp })}\n`);
    }
    return { failed: events.failed };
  });
}

void runUntilStopped(() => start(readGatewayConfig(process.env), process.env));
