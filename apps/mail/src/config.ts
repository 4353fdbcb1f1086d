import { createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { DomainError } from '@dak/kernel';
import { readCompleteConfig, type CompleteConfig, type VariableName } from '@dak/platform/config';

const MAIL_VARIABLES = [
  'DAK_DATA_DIR',
  'DAK_SMTP_HOST',
  'DAK_SMTP_PORT',
  'DAK_LMTP_PORT',
  'DAK_HOSTNAME',
  'DAK_MAIL_TRANSPORT',
  'DAK_MAX_MESSAGE_BYTES',
  'DAK_INBOUND_RATE_PER_MINUTE',
  'DAK_PARSER_THREADS',
  'DAK_LOG_LEVEL',
  'DAK_MAIL_DATABASE_URL',
  'DAK_LOG_DATABASE_URL',
  'DAK_REDIS_URL',
  'DAK_GRPC_HOST',
  'DAK_MAIL_GRPC_PORT',
  'DAK_SECRET',
  'DAK_PRINCIPAL_KEY_FILE',
] as const satisfies readonly VariableName[];

/** What a mail service of its own cannot do without. */
const NEEDED = {
  DAK_MAIL_DATABASE_URL: 'the database that the migration command made',
  DAK_LOG_DATABASE_URL: 'the event log’s database',
  DAK_REDIS_URL: 'memory of one process would be wrong as soon as there are two',
  DAK_SECRET: 'the same 32 or more characters on every replica',
  DAK_PRINCIPAL_KEY_FILE: 'the public half of the gateway’s Ed25519 key',
} as const;

export type MailConfig = CompleteConfig<(typeof MAIL_VARIABLES)[number], keyof typeof NEEDED>;

/** @throws DomainError invalid naming every variable that is missing, unknown or wrong */
export function readMailConfig(environment: NodeJS.ProcessEnv): MailConfig {
  return readCompleteConfig(MAIL_VARIABLES, NEEDED, environment);
}

/** The public key, also out of a private one. @throws DomainError invalid when the file holds none */
export function readPrincipalKey(file: string): KeyObject {
  try {
    const key = createPublicKey(readFileSync(file));
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // The sentence below says all that matters of an unreadable or malformed file.
  }
  throw new DomainError(
    'invalid',
    'bad_configuration',
    `DAK_PRINCIPAL_KEY_FILE must name a readable Ed25519 key in PEM, and ${file} is none.`,
  );
}
