import { DomainError } from '@dak/kernel';

export type FailureKind = 'transient' | 'poison' | 'unknown';

const TRANSIENT_KINDS = new Set(['unavailable', 'deadline_exceeded', 'rate_limited']);
/** Connection exceptions, operator intervention, deadlock and serialization failure, lack of resources. */
const TRANSIENT_SQL = /^(08|57P|40|53)/;
const TRANSIENT_SOCKET = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
]);

/** What node-postgres says without a code when the server went away. */
const LOST_CONNECTION =
  /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect)/;

/** Whether trying again can help: a dependency that is away, input that never works, or not known. */
export function classifyFailure(error: unknown): FailureKind {
  if (error instanceof DomainError) {
    if (error.kind === 'invalid') return 'poison';
    return TRANSIENT_KINDS.has(error.kind) ? 'transient' : 'unknown';
  }
  // What kafkajs marks so: a coordinator or leader that is moving, a broker that is loading.
  if ((error as { retriable?: unknown } | null)?.retriable === true) return 'transient';
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
  if (typeof code !== 'string') {
    return error instanceof Error && LOST_CONNECTION.test(error.message) ? 'transient' : 'unknown';
  }
  if (TRANSIENT_SOCKET.has(code)) return 'transient';
  return code.length === 5 && TRANSIENT_SQL.test(code) ? 'transient' : 'unknown';
}

/** Milliseconds before the next try: 50, 100, 200 … at most 5 s, plus or minus a fifth. */
export function retryDelayMs(attempt: number, random: number): number {
  return Math.min(50 * 2 ** (attempt - 1), 5_000) * (0.8 + 0.4 * random);
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
