import type { Registry } from 'prom-client';
import type { CompleteConfig, VariableName } from '@dak/platform/config';
import {
  CallerVerifier,
  GRPC_TLS_VARIABLES,
  openGrpcTls,
  startGrpcServer,
} from '@dak/platform/grpc';
import { startInSteps, type Running } from '@dak/platform/lifecycle';
import { KAFKA_VARIABLES, openLog, type Log } from '@dak/platform/log';
import { createLogger, type Logger } from '@dak/platform/logging';
import { Probes, startProbeServer } from '@dak/platform/probes';
import { createSharedState, type SharedState } from '@dak/platform/shared-state';
import { createMetrics, startTracing } from '@dak/platform/telemetry';
import type { ConnectedRegistry } from '@dak/platform/tenant-directory';
import { readPublicKey } from './read-public-key';

/** What every service behind the gateway reads. */
export const SERVICE_VARIABLES = [
  'DAK_LOG_LEVEL',
  'DAK_LOG_DATABASE_URL',
  ...KAFKA_VARIABLES,
  'DAK_REDIS_URL',
  'DAK_REDIS_PREFIX',
  'DAK_GRPC_HOST',
  ...GRPC_TLS_VARIABLES,
  'DAK_METRICS_HOST',
  'DAK_METRICS_PORT',
  'DAK_PROCESS_NAME',
  'DAK_SECRET',
  'DAK_PRINCIPAL_KEY_FILE',
] as const satisfies readonly VariableName[];

/** What it cannot do without. */
export const SERVICE_NEEDS = {
  DAK_LOG_DATABASE_URL: 'the event log’s database',
  DAK_REDIS_URL: 'memory of one process would be wrong as soon as there are two',
  DAK_SECRET: 'the same 32 or more characters on every replica',
  DAK_PRINCIPAL_KEY_FILE: 'the public half of the gateway’s Ed25519 key',
} as const;

type ServiceConfig = CompleteConfig<(typeof SERVICE_VARIABLES)[number], keyof typeof SERVICE_NEEDS>;

/** What a service shares with the rest of its process; opened before and closed after it. */
export interface ServiceParts {
  logger: Logger;
  sharedState: SharedState;
  log: Log;
  metrics: Registry;
}

export interface Service {
  /** What the service answers, for an in-process channel or a gRPC server. */
  readonly registry: ConnectedRegistry;
  /** Takes up its work. @returns its ports besides gRPC, by name, for the log */
  start(): Promise<object | void>;
  /** Rejects while a dependency is down. */
  ready(): Promise<void>;
  stop(): Promise<void>;
}

export interface ServiceProcessOptions {
  name: string;
  config: ServiceConfig;
  /** 0 = any free port. */
  grpcPort: number;
  environment: NodeJS.ProcessEnv;
  create(parts: ServiceParts): Promise<Service>;
}

const STOP_GRACE_MS = 10_000;

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}

/** A service as a separate process: it serves gRPC, and probes and metrics over HTTP. */
export function startServiceProcess(options: ServiceProcessOptions): Promise<Running> {
  const { name, config } = options;
  const logger = createLogger(name, config.DAK_LOG_LEVEL);
  return startInSteps(async (onStop) => {
    const verifier = new CallerVerifier(
      readPublicKey(config.DAK_PRINCIPAL_KEY_FILE),
      config.DAK_SECRET,
      name,
    );
    const tls = openGrpcTls(config, logger);
    onStop(() => tls?.stop());
    if (tls === null && !isLoopback(config.DAK_GRPC_HOST)) {
      logger.warn(
        { host: config.DAK_GRPC_HOST },
        'calls between services are neither encrypted nor authenticated by certificates: set DAK_GRPC_TLS_CERT, DAK_GRPC_TLS_KEY and DAK_GRPC_TLS_CA, or let nobody else into this network',
      );
    }
    onStop(await startTracing(name, options.environment));
    const sharedState = await createSharedState({
      url: config.DAK_REDIS_URL,
      keyPrefix: config.DAK_REDIS_PREFIX,
    });
    onStop(() => sharedState.close());
    const metrics = createMetrics(name);
    const events = await openLog({
      databaseUrl: config.DAK_LOG_DATABASE_URL,
      config,
      logger,
      metrics,
      processName: config.DAK_PROCESS_NAME,
    });
    onStop(() => events.close());
    const service = await options.create({ logger, sharedState, log: events.log, metrics });
    onStop(() => service.stop());
    const server = await startGrpcServer({
      registry: service.registry,
      verifier,
      host: config.DAK_GRPC_HOST,
      tls,
      port: options.grpcPort,
      isReady: () => service.ready(),
      onError: (error, path, requestId) =>
        logger.error({ err: error, path, request_id: requestId }, 'a call failed'),
    });
    onStop(() => server.close(STOP_GRACE_MS));
    const ports = (await service.start()) ?? {};
    // Ready only once the service has started; and not ready any more as soon as it stops.
    const probes = new Probes({ isReady: () => service.ready(), metrics });
    const door = await startProbeServer({
      probes,
      host: config.DAK_METRICS_HOST,
      port: config.DAK_METRICS_PORT,
    });
    onStop(() => door.close());
    logger.info({ grpc: server.port, http: door.port, ...ports }, `${name} answers`);
    return { failed: events.failed };
  });
}
