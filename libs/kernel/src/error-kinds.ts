/**
 * What went wrong, as the caller has to see it. Each kind maps to one HTTP status and one gRPC
 * status, and that mapping exists in exactly one place per boundary (`platform/http` in the gateway,
 * `platform/grpc` between services).
 */
export const ERROR_KINDS = [
  'invalid', // 400: malformed, or not as documented
  'unauthenticated', // 401
  'forbidden', // 403: scope or role
  'not_found', // 404: also everything outside tenant or visibility
  'conflict', // 409: state, version or duplicate
  'precondition_failed', // 412: If-Match
  'too_large', // 413
  'unsupported_media', // 415
  'refused', // 422: well-formed but refused by a rule
  'rate_limited', // 429
  'unavailable', // 503: shedding or a dependency is down
  'deadline_exceeded', // 504 inside, 503 outside
  'internal', // 500
] as const;
export type ErrorKind = (typeof ERROR_KINDS)[number];
