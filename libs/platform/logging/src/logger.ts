import pino from 'pino';

export type Logger = pino.Logger;

/** Never in a log: credentials, bodies, and whose mail it is. */
const REDACTED = [
  'password',
  'key',
  'token',
  'secret',
  'authorization',
  'cookie',
  'body',
  'body_text',
  'body_html',
  'subject',
  'email',
  'address',
  'to',
  'cc',
  'bcc',
  'from',
];

/**
 * JSON lines on standard error, so that standard output stays free for a command's output. ERROR
 * means that an operator must act; temporary failures are WARN.
 */
export function createLogger(service: string, level: string): Logger {
  return createLoggers(level)(service);
}

/** As {@link createLogger}, for several services of one process: their lines do not mix. */
export function createLoggers(level: string): (service: string) => Logger {
  const root = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: {
        paths: REDACTED.flatMap((name) => [name, `*.${name}`]),
        censor: '[redacted]',
      },
      serializers: { err: describeError },
      formatters: { level: (label) => ({ level: label }) },
    },
    pino.destination({ dest: 2, sync: false }),
  );
  return (service) => root.child({ service });
}

/** What helps, and nothing that an error drags along (connections with their settings, requests, rows). */
function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) };
  const { code } = error as { code?: unknown };
  return {
    type: error.name,
    message: error.message,
    ...(code === undefined ? {} : { code }),
    stack: error.stack,
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}
