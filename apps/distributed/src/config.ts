import { DomainError } from '@dak/kernel';
import { readConfig, type Config, type VariableName } from '@dak/platform/config';
import { DATABASE_VARIABLES } from '@dak/platform/deployment';

const VARIABLES = [
  'DAK_DATA_DIR',
  'DAK_HTTP_HOST',
  'DAK_HTTP_PORT',
  'DAK_SITE_URL',
  'DAK_SMTP_HOST',
  'DAK_SMTP_PORT',
  'DAK_LMTP_PORT',
  'DAK_MAIL_TRANSPORT',
  'DAK_LOG_LEVEL',
  'DAK_GRPC_HOST',
  'DAK_HTTPS_CERT',
  'DAK_HTTPS_KEY',
  'DAK_SUPERADMIN_EMAIL',
  'DAK_METRICS_HOST',
  'DAK_METRICS_PORT',
  'DAK_DATABASE_URL',
  ...DATABASE_VARIABLES,
  'DAK_KAFKA_BROKERS',
  'DAK_REDIS_URL',
  'DAK_SECRET',
] as const satisfies readonly VariableName[];

export type DistributedConfig = Config<(typeof VARIABLES)[number]>;

/**
 * What starts the services; each of them reads its own variables besides.
 * @throws DomainError invalid naming every variable that is missing, unknown or wrong
 */
export function readDistributedConfig(environment: NodeJS.ProcessEnv): DistributedConfig {
  const config = readConfig(VARIABLES, environment);
  const missing: string[] = [];
  if (config.DAK_DATABASE_URL === undefined) {
    const absent = DATABASE_VARIABLES.filter((name) => config[name] === undefined);
    if (absent.length > 0) {
      missing.push(
        `DAK_DATABASE_URL (an administrator’s URL of a PostgreSQL) or each of ${absent.join(', ')}`,
      );
    }
  }
  if (config.DAK_KAFKA_BROKERS === undefined) {
    missing.push('DAK_KAFKA_BROKERS (host:port of the brokers that carry the event log)');
  }
  if (config.DAK_REDIS_URL === undefined) {
    missing.push('DAK_REDIS_URL (state that the processes share)');
  }
  if (missing.length === 0) return config;
  throw new DomainError(
    'invalid',
    'bad_configuration',
    `A distributed run needs ${missing.join(' and ')}: set ${missing.length === 1 ? 'it' : 'them'}, or use npm start, which needs none.`,
  );
}
