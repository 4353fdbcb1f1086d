export { insertAnswers, lockKeys, selectAnswers } from './answer-store';
export { idempotent, idempotentGroup, type IdempotentOutcome } from './idempotent';
export { requireSameRequest, stillRunning } from './refusals';
export {
  IDEMPOTENCY_HOURS,
  answerKey,
  replay,
  type AnswerKey,
  type IdempotentContext,
  type StoredAnswer,
} from './stored-answer';
export { createIdempotencySweeper, sweepIdempotency } from './sweep-idempotency';
