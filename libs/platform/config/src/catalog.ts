import { isIP } from 'node:net';
import { z } from 'zod';
import { BACKENDS, SERVICES, serviceVariable, type ServiceVariable } from './services';

const integer = (minimum: number, maximum: number, sentence: string) =>
  z.coerce.number(sentence).int(sentence).min(minimum, sentence).max(maximum, sentence);
const port = integer(0, 65_535, 'must be a port from 0 to 65535');
const count = integer(1, Number.MAX_SAFE_INTEGER, 'must be an integer of at least 1');
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const addresses = z
  .string()
  .regex(/^[^:\s,]+:\d+(,[^:\s,]+:\d+)*$/, { error: 'must be host:port, or a comma list of them' });
const nameServers = z.string().regex(/^(off|[^\s,]+:\d+(,[^\s,]+:\d+)*)$/, {
  error: 'must be off, host:port, or a comma list of host:port',
});
const url = (protocol: RegExp, example: string) =>
  z.url({ protocol, error: `must be a URL such as ${example}` });
const postgresUrl = url(/^postgres(ql)?$/, 'postgres://user:password@host:5432/database');

/** A comma list of addresses and of networks in CIDR notation. */
const networks = z
  .string()
  .transform((text) =>
    text
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== ''),
  )
  .refine((entries) => entries.every(isNetwork), {
    error: 'must be a comma list of addresses and networks such as 10.0.0.0/8,::1',
  });

function isNetwork(entry: string): boolean {
  const [address, prefix, rest] = entry.split('/');
  const family = isIP(address!);
  if (family === 0 || rest !== undefined) return false;
  return (
    prefix === undefined ||
    (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128))
  );
}

const SASL_MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;

function saslCredentials(text: string) {
  const [mechanism, username, ...password] = text.split(':');
  return {
    mechanism: SASL_MECHANISMS.find((known) => known === mechanism)!,
    username: username!,
    password: password.join(':'),
  };
}

/** One variable of every service. */
function perService<Name extends string, const What extends string, Variable>(
  services: readonly Name[],
  what: What,
  variableOf: (service: Name) => Variable,
): { [N in Name as ServiceVariable<N, What>]: Variable } {
  return Object.fromEntries(
    services.map((service) => [serviceVariable(service, what), variableOf(service)]),
  ) as { [N in Name as ServiceVariable<N, What>]: Variable };
}

/**
 * Every environment variable that Dak reads, with its type and default. An app picks the ones it
 * uses; any other name that begins with `DAK_` stops the start, because a mistyped setting must not
 * be ignored. `docs/operating.md` lists the same, kept equal by a test.
 */
export const VARIABLES = {
  DAK_DATA_DIR: {
    schema: z.string().min(1).default('.dak'),
    description: 'Folder for all persistent data',
  },
  DAK_JOURNAL_DIR: {
    schema: z.string().min(1).optional(),
    description:
      'Folder for the journal of accepted deliveries, used by one mail process only; absent = journal in DAK_DATA_DIR',
  },
  DAK_PROCESS_NAME: {
    schema: z
      .string()
      .regex(/^[A-Za-z0-9._-]{1,200}$/, {
        error: 'must be 1 to 200 letters, digits, dots, underscores and hyphens',
      })
      .optional(),
    description:
      'Name that a process keeps across restarts and shares with no other: after a kill, its work is taken over as soon as it restarts; absent = after 10 s',
  },
  DAK_FIRST_RUN_FILE: {
    schema: z.string().min(1).optional(),
    description:
      'JSON file for the first start: superadminPassword, and adminPassword with apiKey for a first organization; absent = the gateway creates only a superadmin and prints its password once',
  },
  DAK_HTTP_HOST: { schema: z.string().default('127.0.0.1'), description: 'Address of the API' },
  DAK_HTTP_PORT: { schema: port.default(8080), description: 'Port of the API; 0 = any free port' },
  DAK_SITE_URL: {
    schema: url(/^https?$/, 'https://mail.example.com').optional(),
    description: 'URL under which clients reach the API; derived from host and port if absent',
  },
  DAK_SMTP_HOST: {
    schema: z.string().default('127.0.0.1'),
    description: 'Address of the SMTP and LMTP listeners',
  },
  DAK_SMTP_PORT: { schema: port.default(2525), description: 'Port of the SMTP listener' },
  DAK_LMTP_PORT: { schema: port.default(2424), description: 'Port of the LMTP listener' },
  DAK_HOSTNAME: {
    schema: z
      .string()
      .regex(/^[A-Za-z0-9.-]+$/, 'must be a host name such as mail.example.com')
      .default('localhost'),
    description: 'Host name in SMTP greetings and trace headers',
  },
  DAK_MAIL_TRANSPORT: {
    schema: z
      .string()
      .regex(/^(capture|direct|smtps?:\/\/.+)$/, {
        error: 'must be capture, direct or smtp://user:password@host:port',
      })
      .default('capture'),
    description:
      'Where outgoing mail goes: captured here, to a relay, or to the recipients’ MX hosts',
    secret: true,
  },
  DAK_DNS_SERVERS: {
    schema: nameServers.optional(),
    description:
      'Name servers for checking DNS records of domains, a comma-separated list of host:port; off = no queries; absent = those of the system',
  },
  DAK_MAX_MESSAGE_BYTES: {
    schema: count.default(36_700_160),
    description: 'Largest inbound message',
  },
  DAK_INBOUND_RATE_PER_MINUTE: {
    schema: count.default(600_000),
    description: 'Messages per minute accepted from one client address over SMTP',
  },
  DAK_SMTP_CONNECTIONS_PER_CLIENT: {
    schema: count.default(20),
    description:
      'Concurrent SMTP sessions of one client (an IPv4 address or an IPv6 /64); further ones get 421. LMTP is counted separately',
  },
  DAK_SMTP_TLS_CERT: {
    schema: z.string().min(1).optional(),
    description:
      'PEM file of the STARTTLS certificate and its chain, reloaded when it changes; absent = a self-signed one, generated at every start',
  },
  DAK_SMTP_TLS_KEY: {
    schema: z.string().min(1).optional(),
    description: 'PEM file of that certificate’s private key, without passphrase',
  },
  DAK_READS_PER_MINUTE: {
    schema: count.default(60_000),
    description: 'Rate limit per credential for reading routes',
  },
  DAK_WRITES_PER_MINUTE: {
    schema: count.default(6_000),
    description: 'Rate limit per credential for changing routes',
  },
  DAK_AUTH_PER_MINUTE: {
    schema: count.default(30),
    description: 'Sign-ins and accepted invites, together, allowed per client address and minute',
  },
  DAK_ANONYMOUS_PER_MINUTE: {
    schema: count.optional(),
    description:
      'Requests without a valid credential allowed per client address and minute; absent = a tenth of DAK_READS_PER_MINUTE, at least 600',
  },
  DAK_TRUSTED_PROXIES: {
    schema: networks.default([]),
    description:
      'Addresses and networks of the proxies in front of Dak, a comma-separated list such as 10.0.0.0/8,::1; only they may name the client in X-Forwarded-For or Forwarded. Absent = the connecting address is the client',
  },
  DAK_HTTPS_CERT: {
    schema: z.string().min(1).optional(),
    description:
      'PEM file of the certificate and its chain; with DAK_HTTPS_KEY the API serves HTTPS. Reloaded when it changes',
  },
  DAK_HTTPS_KEY: {
    schema: z.string().min(1).optional(),
    description: 'PEM file of the private key of DAK_HTTPS_CERT',
  },
  DAK_SUPERADMIN_EMAIL: {
    schema: z.email('must be an e-mail address').toLowerCase().optional(),
    description:
      'E-mail address of the first start’s superadmin; absent = generated and printed once, or superadmin@dak.example if DAK_FIRST_RUN_FILE has a superadminPassword',
  },
  DAK_LOG_LEVEL: {
    schema: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`).default('info'),
    description: 'Lowest level that is logged',
  },
  DAK_PARSER_THREADS: {
    schema: integer(1, 16, 'must be an integer from 1 to 16').default(1),
    description: 'Worker threads that parse inbound mail',
  },
  DAK_DATABASE_URL: {
    schema: postgresUrl.optional(),
    description: 'Administrator URL of a PostgreSQL 15 or newer; absent = the embedded PostgreSQL',
    secret: true,
  },
  ...perService(SERVICES, 'DATABASE_URL', (service) => ({
    schema: postgresUrl.optional(),
    description: `The ${service} service’s database under its runtime role`,
    secret: true,
  })),
  DAK_LOG_DATABASE_URL: {
    schema: postgresUrl.optional(),
    description: 'The event log’s database under its runtime role',
    secret: true,
  },
  DAK_REDIS_URL: {
    schema: url(/^rediss?$/, 'redis://host:6379').optional(),
    description: 'Redis for shared state; required with more than one process',
    secret: true,
  },
  DAK_REDIS_PREFIX: {
    schema: z.string().default('dak:'),
    description: 'Prefix of key names, for several Dak installations on one Redis',
  },
  ...perService(BACKENDS, 'GRPC_URL', (service) => ({
    schema: addresses.optional(),
    description: `host:port of the ${service} service for other services; a comma-separated list of its replicas`,
  })),
  ...perService(BACKENDS, 'GRPC_PORT', (service) => ({
    schema: port.default(0),
    description: `gRPC port of the ${service} service`,
  })),
  DAK_WEBHOOK_ALLOW: {
    schema: z.string().default(''),
    description:
      'Non-public hosts and networks that webhooks may call, on any port and also over plain HTTP: a comma-separated list such as 127.0.0.1,10.0.0.0/8,https://hooks.example.com; an entry with https:// or http:// allows only that scheme, one with :port only that port. Every organization can then send requests to them',
  },
  DAK_KAFKA_BROKERS: {
    schema: addresses.optional(),
    description: 'Kafka brokers for the event log; absent = the log is in PostgreSQL',
  },
  DAK_KAFKA_PREFIX: {
    schema: z
      .string()
      .regex(/^[A-Za-z0-9._-]*$/, 'must have only letters, digits, dots, underscores and hyphens')
      .default(''),
    description:
      'Prefix of topic and group names, for several Dak installations on the same brokers',
  },
  DAK_KAFKA_TLS: {
    schema: z.enum(['on', 'off'], 'must be on or off').default('off'),
    description: 'Whether to connect to the brokers over TLS',
  },
  DAK_KAFKA_CA: {
    schema: z.string().min(1).optional(),
    description:
      'PEM file of the authorities for the brokers’ certificates; absent = Node’s, with NODE_EXTRA_CA_CERTS',
  },
  DAK_KAFKA_SASL: {
    schema: z
      .string()
      .regex(new RegExp(`^(${SASL_MECHANISMS.join('|')}):[^:]+:.+$`), {
        error: 'must be plain:user:password, or the same with scram-sha-256 or scram-sha-512',
      })
      .transform(saslCredentials)
      .optional(),
    description: 'Credentials for the brokers, such as scram-sha-512:user:password',
    secret: true,
  },
  DAK_METRICS_HOST: {
    schema: z.string().default('127.0.0.1'),
    description: 'Address of DAK_METRICS_PORT',
  },
  DAK_METRICS_PORT: {
    schema: port.default(0),
    description: 'Port of the process’s /metrics, /healthz and /readyz; 0 = any free port',
  },
  DAK_GRPC_HOST: {
    schema: z.string().default('127.0.0.1'),
    description: 'Address of gRPC servers',
  },
  DAK_GRPC_TLS_CERT: {
    schema: z.string().min(1).optional(),
    description:
      'PEM file of the certificate and chain for mutual TLS between services, as server and as client, reloaded when it changes; absent = plain gRPC',
  },
  DAK_GRPC_TLS_KEY: {
    schema: z.string().min(1).optional(),
    description: 'PEM file of that certificate’s private key, without passphrase',
  },
  DAK_GRPC_TLS_CA: {
    schema: z.string().min(1).optional(),
    description: 'PEM file of the authorities that sign all services’ certificates',
  },
  DAK_SECRET: {
    schema: z.string().min(32, 'must have at least 32 characters').optional(),
    description:
      'Signs page cursors and download links and encrypts webhook secrets, which cannot be decrypted without it; the same on every replica',
    secret: true,
  },
  DAK_PRINCIPAL_KEY_FILE: {
    schema: z.string().optional(),
    description: 'Ed25519 key (PEM): private for the gateway, public for the services',
  },
  DAK_URL: {
    schema: url(/^https?$/, 'http://127.0.0.1:8080/api/v1').optional(),
    description: 'API address for the command-line tools; absent = that of bootstrap.json',
  },
  DAK_API_KEY: {
    schema: z.string().optional(),
    description: 'API key for the command-line tools; absent = that of bootstrap.json',
    secret: true,
  },
} as const satisfies Record<string, { schema: z.ZodType; description: string; secret?: boolean }>;

export type VariableName = keyof typeof VARIABLES;
export type VariableValue<Name extends VariableName> = z.output<(typeof VARIABLES)[Name]['schema']>;
