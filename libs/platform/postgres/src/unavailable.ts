import { DomainError, outageAsUnavailable, UnavailableError } from '@dak/kernel';

/** `query_canceled`: the statement timeout. */
const TOO_LONG = '57014';

/**
 * What says that the database is away, or did not manage in time, as {@link UnavailableError}; everything
 * else, such as a constraint violation, is unchanged.
 */
export function asUnavailable(error: unknown): unknown {
  if (!(error instanceof DomainError) && tookTooLong(error)) {
    return new UnavailableError('The database took too long. Try again later.', 5, error);
  }
  return outageAsUnavailable(error, 'The database cannot be reached. Try again in a moment.');
}

/** Whether a statement was cancelled for taking too long, which may be due to its input. */
export function tookTooLong(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause) {
    if ((each as { code?: unknown }).code === TOO_LONG) return true;
  }
  return false;
}
