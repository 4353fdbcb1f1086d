import type { Document } from '@dak/contracts/mail';
import { DomainError } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import { answerKey, replay, type IdempotentContext, type StoredAnswer } from './stored-answer';
import { stillRunning } from './refusals';
import { insertAnswers, lockKeys, selectAnswers } from './answer-store';

export type IdempotentOutcome = { readonly document: Document } | { readonly error: DomainError };

/**
 * Runs `effect` once per Idempotency-Key and stores its answer in the same transaction; a repeat gets
 * the stored answer with `replayed`. Without a key the effect just runs. Keys belong to a credential
 * and a route, and are forgotten after a day.
 * @throws RefusedError `idempotency_mismatch` when the key was used with another request
 * @throws DomainError `idempotency_in_progress` (conflict) while the first request is still running
 */
export async function idempotent(
  tx: SqlExecutor,
  context: IdempotentContext,
  effect: () => Promise<Document>,
): Promise<Document> {
  const [outcome] = await idempotentGroup(tx, [context], effect);
  if ('error' in outcome!) throw outcome.error;
  return outcome!.document;
}

/**
 * As {@link idempotent} for requests of one organization that share a transaction: three statements
 * for all of them. `effect` runs one after the other, by index; a DomainError refuses its request
 * alone, any other error ends the transaction for all. `store` writes the effects' results,
 * beside the answers.
 * @returns an outcome per context, in order
 */
export async function idempotentGroup(
  tx: SqlExecutor,
  contexts: readonly IdempotentContext[],
  effect: (index: number) => Promise<Document>,
  store: () => Promise<void> = () => Promise.resolve(),
): Promise<IdempotentOutcome[]> {
  const keys = new Map(
    contexts.flatMap((context) => {
      const key = answerKey(context);
      return key === null ? [] : [[key.scope, key] as const];
    }),
  );
  const locked = await lockKeys(tx, [...keys.keys()]);
  // Its own statement: records must be looked up with a snapshot taken after the locks.
  const answers = await selectAnswers(
    tx,
    [...keys.values()].filter(({ scope }) => locked.has(scope)),
  );
  const made: StoredAnswer[] = [];
  const outcomes: IdempotentOutcome[] = [];
  for (const [index, context] of contexts.entries()) {
    try {
      const key = answerKey(context);
      if (key === null) {
        outcomes.push({ document: await effect(index) });
        continue;
      }
      if (!locked.has(key.scope)) throw stillRunning();
      const known = answers.get(key.scope);
      if (known !== undefined) {
        outcomes.push({ document: replay(known, key.requestHash) });
        continue;
      }
      const document = await effect(index);
      const answer = { ...key, document };
      made.push(answer);
      // The same key may come twice in one group.
      answers.set(key.scope, answer);
      outcomes.push({ document });
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      outcomes.push({ error });
    }
  }
  await Promise.all([store(), insertAnswers(tx, made)]);
  return outcomes;
}
