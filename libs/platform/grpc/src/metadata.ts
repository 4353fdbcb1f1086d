import { Metadata } from '@grpc/grpc-js';
import type { CallContext, CallOptions, IdempotencyKey } from './call-context';

const PRINCIPAL = 'dak-principal';
const REQUEST_ID = 'dak-request-id';
const IDEMPOTENCY = 'dak-idempotency-bin';
const TRACEPARENT = 'traceparent';

export function toMetadata(options: CallOptions, principalToken: string): Metadata {
  const metadata = new Metadata();
  metadata.set(PRINCIPAL, principalToken);
  metadata.set(REQUEST_ID, options.requestId);
  if (options.idempotency) {
    metadata.set(IDEMPOTENCY, Buffer.from(JSON.stringify(options.idempotency)));
  }
  if (options.traceparent) metadata.set(TRACEPARENT, options.traceparent);
  return metadata;
}

export function principalTokenOf(metadata: Metadata): string {
  return text(metadata, PRINCIPAL);
}

export function fromMetadata(
  metadata: Metadata,
): Pick<CallContext, 'requestId' | 'idempotency' | 'traceparent'> {
  const idempotency = metadata.get(IDEMPOTENCY)[0];
  return {
    requestId: text(metadata, REQUEST_ID),
    idempotency: Buffer.isBuffer(idempotency)
      ? (JSON.parse(idempotency.toString('utf8')) as IdempotencyKey)
      : null,
    traceparent: text(metadata, TRACEPARENT) || null,
  };
}

function text(metadata: Metadata, name: string): string {
  return metadata.get(name)[0]?.toString() ?? '';
}
