import type { Document } from '@dak/contracts/mail';
import type { CallContext } from '@dak/platform/grpc';
import { answerKey, answersOf, answersQuery, replay } from '@dak/platform/idempotency';
import type { Database } from '@dak/platform/postgres';

/**
 * The answer to an earlier request with the same Idempotency-Key, looked up before anything else: a
 * repeat must succeed although its uploads have expired or its conversation has moved on. A request
 * that is still running has none yet; `idempotent` refuses its repeat.
 * @throws RefusedError `idempotency_mismatch` when the key was used with another request
 */
export async function storedAnswer(
  database: Database,
  context: CallContext,
): Promise<Document | null> {
  const key = answerKey(context);
  if (key === null) return null;
  const [rows = []] = await database.batchInTenant(key.organizationId, [answersQuery([key])]);
  const [answer] = answersOf(rows, [key]);
  return answer === undefined ? null : replay(answer, key.requestHash);
}
