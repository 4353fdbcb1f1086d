import { DomainError, UnavailableError } from '@dak/kernel';

/** Connection exceptions, lack of resources, a server that ends or has ended the session. */
const LOST_STATE = /^(08...|53...|57P0\d|25P03)$/;
const LOST_SOCKET = /^E(CONN\w+|PIPE|HOST\w+|NET\w+|TIMEDOUT|NOTFOUND|AI_AGAIN)$/;
/** What node-postgres says without a code. */
const LOST_WORDS =
  /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect)/;
const TOO_LONG = '57014';

/**
 * What says that the database is away, or did not manage in time, as {@link UnavailableError}; everything
 * else, such as a constraint that refused a row, stays what it is.
 */
export function asUnavailable(error: unknown): unknown {
  if (error instanceof DomainError || !(error instanceof Error)) return error;
  const { code } = error as { code?: unknown };
  if (code === TOO_LONG) {
    return new UnavailableError('The database took too long. Try again later.', 5, error);
  }
  const isLost =
    typeof code === 'string'
      ? LOST_STATE.test(code) || LOST_SOCKET.test(code)
      : LOST_WORDS.test(error.message);
  if (!isLost) return error;
  return new UnavailableError('The database cannot be reached. Try again in a moment.', 1, error);
}
