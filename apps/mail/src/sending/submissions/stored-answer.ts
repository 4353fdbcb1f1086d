import type { Document } from '@dak/contracts/mail';
import type { CallContext } from '@dak/platform/grpc';
import { answerKey, replay, selectAnswers } from '@dak/platform/idempotency';
import type { SqlExecutor } from '@dak/platform/postgres';

/**
 * The answer to an earlier request with the same Idempotency-Key, looked up before anything else: a
 * repeat must succeed although its uploads have expired or its conversation has moved on. A request
 * that is still running has none yet; `idempotent` refuses its repeat.
 * @throws RefusedError `idempotency_mismatch` when the key was used with another request
 */
export async function storedAnswer(
  reader: SqlExecutor,
  context: CallContext,
): Promise<Document | null> {
  const key = answerKey(context);
  if (key === null) return null;
  const answer = (await selectAnswers(reader, [key])).get(key.scope);
  return answer === undefined ? null : replay(answer, key.requestHash);
}
