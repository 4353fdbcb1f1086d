import type { Principal } from '@dak/kernel';

/** A POST that may be repeated; the service that owns the effect stores the answer with it. */
export interface IdempotencyKey {
  /** As the client sent it, 1–256 characters. */
  key: string;
  /** Method and path of the route. */
  route: string;
  /** sha256 of the request body, hex: another body under the same key is refused. */
  requestHash: string;
}

/** What travels with every call. */
export interface CallOptions {
  /** `null` only for calls that the gateway or a service makes for itself, to internal methods. */
  principal: Principal | null;
  requestId: string;
  /** Milliseconds since the epoch; passed on to every further call. */
  deadline: number;
  signal?: AbortSignal;
  idempotency?: IdempotencyKey;
  /** The call changes nothing: it may be sent again when its connection is lost. @default false */
  isRead?: boolean;
  /** W3C trace context. */
  traceparent?: string;
}

/** What a handler receives: the verified principal and the remaining context. */
export interface CallContext {
  readonly principal: Principal;
  readonly requestId: string;
  readonly deadline: number;
  readonly signal: AbortSignal;
  readonly idempotency: IdempotencyKey | null;
  readonly traceparent: string | null;
}
