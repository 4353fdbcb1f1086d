import { readCompleteConfig, type CompleteConfig, type VariableName } from '@dak/platform/config';
import { SERVICE_NEEDS, SERVICE_VARIABLES } from '@dak/platform/service-process';

const MAIL_VARIABLES = [
  ...SERVICE_VARIABLES,
  'DAK_DATA_DIR',
  'DAK_JOURNAL_DIR',
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
  'DAK_MAIL_DATABASE_URL',
  'DAK_MAIL_GRPC_PORT',
] as const satisfies readonly VariableName[];

/** Variables that a separately started mail service requires. */
const NEEDED = {
  ...SERVICE_NEEDS,
  DAK_MAIL_DATABASE_URL: 'the database that the migration command made',
} as const;

export type MailConfig = CompleteConfig<(typeof MAIL_VARIABLES)[number], keyof typeof NEEDED>;

/** @throws DomainError invalid naming every variable that is missing, unknown or wrong */
export function readMailConfig(environment: NodeJS.ProcessEnv): MailConfig {
  return readCompleteConfig(MAIL_VARIABLES, NEEDED, environment);
}
