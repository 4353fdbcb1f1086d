import { readCompleteConfig, type CompleteConfig, type VariableName } from '@dak/platform/config';
import { SERVICE_NEEDS, SERVICE_VARIABLES } from '@dak/platform/service-process';

const WEBHOOK_VARIABLES = [
  ...SERVICE_VARIABLES,
  'DAK_WEBHOOK_DATABASE_URL',
  'DAK_WEBHOOK_GRPC_PORT',
  'DAK_WEBHOOK_ALLOW',
  'DAK_MAIL_GRPC_URL',
] as const satisfies readonly VariableName[];

/** Variables that a webhook process needs, each with its meaning. */
const NEEDED = {
  ...SERVICE_NEEDS,
  DAK_WEBHOOK_DATABASE_URL: 'the database that the migration command made',
  DAK_MAIL_GRPC_URL: 'host:port of the mail service, which knows who may read what',
} as const;

export type WebhookConfig = CompleteConfig<(typeof WEBHOOK_VARIABLES)[number], keyof typeof NEEDED>;

/** @throws DomainError invalid naming every variable that is missing, unknown or wrong */
export function readWebhookConfig(environment: NodeJS.ProcessEnv): WebhookConfig {
  return readCompleteConfig(WEBHOOK_VARIABLES, NEEDED, environment);
}
