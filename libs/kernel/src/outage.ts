import { DomainError, UnavailableError } from './errors';

const TRANSIENT_KINDS = new Set(['unavailable', 'deadline_exceeded', 'rate_limited']);
/**
 * Connection exceptions, operator intervention (a cancelled statement, too), deadlock and serialization
 * failure, lack of resources, errors of the system (a disk), a server that is not ready, a lock that was not to
 * be had, a session that was ended, a server that only reads while another takes over.
 */
const TRANSIENT_SQL = /^(08|57|40|53|58|55000|55P03|25P03|25006)/;
/** Error codes of sockets, name resolution, disks and descriptors, and of undici. */
const TRANSIENT_SYSTEM = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAGAIN',
  'EBUSY',
  'EDQUOT',
  'EIO',
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  'ENOSPC',
  'EROFS',
  'ESTALE',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_SOCKET',
]);
/** Of the client of Redis; these have no codes. */
const TRANSIENT_NAMES = new Set([
  'ClientClosedError',
  'ClientOfflineError',
  'ConnectionTimeoutError',
  'DisconnectsClientError',
  'SocketClosedUnexpectedlyError',
  'SocketTimeoutError',
]);
const MOST_CAUSES = 5;

/** What node-postgres says without a code when the server went away. */
const LOST_CONNECTION =
  /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect|Query read timeout|Cannot use a pool after calling end)/;

/**
 * Whether an error says that something is away for now, or had no room or no time: a database, a broker, a
 * disk, a name server. It is temporary: a retry may succeed later. Causes are examined as well.
 */
export function isOutage(error: unknown): boolean {
  let each = error;
  for (let depth = 0; depth < MOST_CAUSES; depth += 1) {
    if (typeof each !== 'object' || each === null) return false;
    if (saysSo(each)) return true;
    each = (each as { cause?: unknown }).cause;
  }
  return false;
}

/** Turns a driver's outage error into `UnavailableError` with this sentence; returns others unchanged. */
export function outageAsUnavailable(error: unknown, sentence: string): unknown {
  if (error instanceof DomainError || !isOutage(error)) return error;
  return new UnavailableError(sentence, 1, error);
}

function saysSo(error: object): boolean {
  if (error instanceof DomainError) return TRANSIENT_KINDS.has(error.kind);
  // What kafkajs marks so: a coordinator or leader that is moving, a broker that is loading.
  if ((error as { retriable?: unknown }).retriable === true) return true;
  const { name, code, message, syscall } = error as Record<string, unknown>;
  if (typeof name === 'string' && TRANSIENT_NAMES.has(name)) return true;
  if (typeof code !== 'string') return typeof message === 'string' && LOST_CONNECTION.test(message);
  if (syscall === 'connect' || TRANSIENT_SYSTEM.has(code)) return true;
  return code.length === 5 && TRANSIENT_SQL.test(code);
}
