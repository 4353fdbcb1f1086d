import type { VisibilityServiceService } from '@dak/contracts/mail';
import type { CallContext, Handlers } from '@dak/platform/grpc';
import type { Database } from '@dak/platform/postgres';
import { findReaders } from './find-readers';

/** Who may read what; registered for services alone. */
export function createVisibilityHandlers(deps: {
  database: Database;
}): Handlers<typeof VisibilityServiceService, CallContext> {
  return { findReaders: (request) => findReaders(deps.database, request) };
}
