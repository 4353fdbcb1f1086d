/** What a suite may choose of the product that it starts. */
export interface StackOptions {
  /** Of the mail service in the test's own process. @default one of its own */
  journalFolder?: string;
  /** @default 'capture' */
  transport?: string;
  /** @default 25 MB */
  maxMessageBytes?: number;
  /** `DAK_DNS_SERVERS`. @default 'off' */
  dnsServers?: string;
  /** `DAK_WEBHOOK_ALLOW`. @default '127.0.0.1' */
  webhookAllow?: string;
  /** `DAK_SMTP_CONNECTIONS_PER_CLIENT`. @default as many as there are: every client of a test is 127.0.0.1 */
  connectionsPerClient?: number;
  /** Certificate of STARTTLS. @default one that signs itself */
  smtpTls?: { cert: string; key: string };
  /** `OTEL_EXPORTER_OTLP_ENDPOINT`: who takes spans. @default nobody */
  otlpEndpoint?: string;
}

/** The variables of the services, in one process or several. */
export function settingsOf(options: StackOptions): Record<string, string> {
  return {
    DAK_MAIL_TRANSPORT: options.transport ?? 'capture',
    DAK_DNS_SERVERS: options.dnsServers ?? 'off',
    DAK_MAX_MESSAGE_BYTES: String(options.maxMessageBytes ?? 25 * 1024 * 1024),
    DAK_WEBHOOK_ALLOW: options.webhookAllow ?? '127.0.0.1',
    DAK_INBOUND_RATE_PER_MINUTE: '1000000',
    DAK_SMTP_CONNECTIONS_PER_CLIENT: String(options.connectionsPerClient ?? 1_000),
    ...(options.smtpTls && {
      DAK_SMTP_TLS_CERT: options.smtpTls.cert,
      DAK_SMTP_TLS_KEY: options.smtpTls.key,
    }),
  };
}

/** The variables of a run that sends its spans there, and soon. */
export function otlpSettings(endpoint: string): Record<string, string> {
  return { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_BSP_SCHEDULE_DELAY: '200' };
}
