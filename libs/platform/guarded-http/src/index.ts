export { NO_ALLOWANCE, parseAllowance, type Allowance } from './allowance';
export { ATTEMPT_ERRORS, type AttemptError, type AttemptOutcome } from './attempt-outcome';
export type { Resolve } from './guarded-connector';
export {
  createGuardedHttp,
  MAX_RESPONSE_BYTES,
  type GuardedHttp,
  type GuardedHttpOptions,
  type PostRequest,
} from './guarded-http';
export { judgeUrl, type UrlJudgment } from './judge-url';
