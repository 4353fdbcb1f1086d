import type { Document } from '@dak/contracts/mail';
import type { CallContext } from '@dak/platform/grpc';
import { requireSameRequest } from './refusals';

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
  requireSameRequest(requestHash, asked);
  return { ...document, replayed: true };
}
