import type { VisibilityServiceService } from '@dak/contracts/mail';
import type { CallContext, Handlers } from '@dak/platform/grpc';
import type { Database } from '@dak/platform/postgres';
import { findReaders } from './find-readers';

/** Read permissions; only services may call these. */
export function createVisibilityHandlers(deps: {
  database: Database;
}): Handlers<typeof VisibilityServiceService, CallContext> {
  return { findReaders: (request) => findReaders(deps.database, request) };
}
