import type { Document } from '@dak/contracts/mail';
import type { CallContext } from '@dak/platform/grpc';
import type { Database } from '@dak/platform/postgres';
import { idempotent } from '../idempotency/idempotent';

const NOT_ANSWERED = new Error('not answered');

/**
 * The answer to an earlier request with the same Idempotency-Key, looked up before anything else: a
 * repeat must succeed although its uploads have expired or its conversation has moved on.
 * @throws as `idempotent`
 */
export async function storedAnswer(
  database: Database,
  context: CallContext,
): Promise<Document | null> {
  if (context.idempotency === null) return null;
  return database.inTenant(context.principal.organizationId, async (tx) => {
    try {
      return await idempotent(tx, context, () => Promise.reject(NOT_ANSWERED));
    } catch (reason) {
      if (reason === NOT_ANSWERED) return null;
      throw reason;
    }
  });
}
