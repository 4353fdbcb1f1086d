import type { Document } from '@dak/contracts/mail';
import { RefusedError } from '@dak/kernel';
import type { CallContext } from '@dak/platform/grpc';

/** Hours that an answer is kept. */
export const IDEMPOTENCY_HOURS = 24;

export type IdempotentContext = Pick<CallContext, 'principal' | 'idempotency'>;

/** What an answer is kept under: keys belong to a credential and a route. */
export interface AnswerKey {
  readonly organizationId: string;
  readonly credentialId: string;
  readonly route: string;
  readonly key: string;
  readonly requestHash: string;
  /** All but the hash in one text. */
  readonly scope: string;
}

export interface StoredAnswer extends AnswerKey {
  readonly document: Document;
}

/** Null for a request without Idempotency-Key. */
export function answerKey({ idempotency, principal }: IdempotentContext): AnswerKey | null {
  if (idempotency === null) return null;
  const { organizationId, credentialId } = principal;
  const { route, key, requestHash } = idempotency;
  const scope = [organizationId, credentialId, route, key].join('\n');
  return { organizationId, credentialId, route, key, requestHash, scope };
}

/** @throws RefusedError `idempotency_mismatch` when the key was used with another request */
export function replay({ requestHash, document }: StoredAnswer, asked: string): Document {
  if (requestHash !== asked) {
    throw new RefusedError(
      'This Idempotency-Key was used with another request: send the same body again, or a new key.',
      'idempotency_mismatch',
    );
  }
  return { ...document, replayed: true };
}
