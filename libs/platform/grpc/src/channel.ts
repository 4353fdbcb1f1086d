import type { MethodDefinition } from '@grpc/grpc-js';
import type { CallOptions } from './call-context';

/**
 * How a generated client reaches a service: in the same process or over grpc-js. Both drivers pass on
 * deadline, cancellation, principal and error kinds alike and pass one contract suite.
 */
export interface Channel {
  unary<Req, Res>(
    method: MethodDefinition<Req, Res>,
    request: Req,
    options: CallOptions,
  ): Promise<Res>;
  clientStream<Req, Res>(
    method: MethodDefinition<Req, Res>,
    requests: AsyncIterable<Req>,
    options: CallOptions,
  ): Promise<Res>;
  serverStream<Req, Res>(
    method: MethodDefinition<Req, Res>,
    request: Req,
    options: CallOptions,
  ): AsyncIterable<Res>;
  /** Rejects when the service is not ready. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
