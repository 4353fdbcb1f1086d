import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { DomainError, isWellFormedApiKey } from '@dak/kernel';
import {
  BACKENDS,
  readCompleteConfig,
  serviceVariable,
  serviceVariables,
  type BackendName,
  type CompleteConfig,
  type ServiceVariable,
  type VariableName,
} from '@dak/platform/config';
import { GRPC_TLS_VARIABLES } from '@dak/platform/grpc';
import { KAFKA_VARIABLES } from '@dak/platform/log';
import { z } from 'zod';

const GATEWAY_VARIABLES = [
  'DAK_HTTP_HOST',
  'DAK_HTTP_PORT',
  'DAK_SITE_URL',
  'DAK_METRICS_HOST',
  'DAK_METRICS_PORT',
  'DAK_LOG_LEVEL',
  'DAK_READS_PER_MINUTE',
  'DAK_WRITES_PER_MINUTE',
  'DAK_AUTH_PER_MINUTE',
  'DAK_ANONYMOUS_PER_MINUTE',
  'DAK_TRUSTED_PROXIES',
  'DAK_GATEWAY_DATABASE_URL',
  'DAK_LOG_DATABASE_URL',
  ...KAFKA_VARIABLES,
  'DAK_REDIS_URL',
  'DAK_REDIS_PREFIX',
  ...serviceVariables(BACKENDS, 'GRPC_URL'),
  ...GRPC_TLS_VARIABLES,
  'DAK_PROCESS_NAME',
  'DAK_SECRET',
  'DAK_PRINCIPAL_KEY_FILE',
  'DAK_FIRST_RUN_FILE',
  'DAK_SUPERADMIN_EMAIL',
  'DAK_HTTPS_CERT',
  'DAK_HTTPS_KEY',
] as const satisfies readonly VariableName[];

/** Variables that a separately started gateway requires, because replicas share its state and keys. */
const NEEDED = {
  DAK_GATEWAY_DATABASE_URL: 'the database that the migration command made',
  DAK_LOG_DATABASE_URL: 'the event log’s database',
  DAK_REDIS_URL: 'memory of one process would be wrong as soon as there are two',
  ...(Object.fromEntries(
    BACKENDS.map((name) => [serviceVariable(name, 'GRPC_URL'), `host:port of the ${name} service`]),
  ) as Record<ServiceVariable<BackendName, 'GRPC_URL'>, string>),
  DAK_SECRET: 'the same 32 or more characters on every replica',
  DAK_PRINCIPAL_KEY_FILE: 'the private Ed25519 key whose public half the services have',
} as const;

export type GatewayConfig = CompleteConfig<(typeof GATEWAY_VARIABLES)[number], keyof typeof NEEDED>;

/** @throws DomainError invalid naming every variable that is missing, unknown or wrong */
export function readGatewayConfig(environment: NodeJS.ProcessEnv): GatewayConfig {
  return readCompleteConfig(GATEWAY_VARIABLES, NEEDED, environment);
}

/** @throws DomainError invalid when the file is no private Ed25519 key in PEM */
export function readSigningKey(file: string): KeyObject {
  try {
    const key = createPrivateKey(readFileSync(file));
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // The sentence below says all that matters of an unreadable or malformed file.
  }
  throw new DomainError(
    'invalid',
    'bad_configuration',
    `DAK_PRINCIPAL_KEY_FILE must name a readable private Ed25519 key in PEM, and ${file} is none: make one with "openssl genpkey -algorithm ed25519".`,
  );
}

const password = z.string().min(12).nullish();
const firstRunFile = z
  .object({
    adminPassword: password,
    superadminPassword: password,
    apiKey: z.string().refine(isWellFormedApiKey).nullish(),
  })
  .refine((named) => Object.keys(named).length > 0)
  .refine(({ adminPassword, apiKey }) => adminPassword == null || apiKey != null);

/** Absent: do not create it; null: it was created and has been changed since. */
export type FirstRunFile = z.infer<typeof firstRunFile>;

/** @throws DomainError invalid when the file holds something else */
export function readFirstRunFile(file: string): FirstRunFile {
  try {
    return firstRunFile.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    throw new DomainError(
      'invalid',
      'bad_configuration',
      `DAK_FIRST_RUN_FILE must name a readable JSON file with a superadminPassword, or also an adminPassword and a well-formed apiKey, passwords of 12 or more characters, and ${file} is none.`,
    );
  }
}
