import type { MethodDefinition } from '@grpc/grpc-js';

/** A generated service definition (ts-proto, `outputServices=grpc-js`): method name → descriptor. */
// The descriptor's types are invariant, so the constraint has to leave them open.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type ServiceDefinition = Record<string, MethodDefinition<any, any>>;

export type RequestOf<M> = M extends { requestDeserialize: (bytes: Buffer) => infer R } ? R : never;
export type ResponseOf<M> = M extends { responseDeserialize: (bytes: Buffer) => infer R }
  ? R
  : never;

type IsStream<M, Key extends 'requestStream' | 'responseStream'> = M extends {
  readonly [K in Key]: true;
}
  ? true
  : false;

/** What a caller sees of one method. */
export type ClientMethod<M, Options> =
  IsStream<M, 'requestStream'> extends true
    ? (requests: AsyncIterable<RequestOf<M>>, options: Options) => Promise<ResponseOf<M>>
    : IsStream<M, 'responseStream'> extends true
      ? (request: RequestOf<M>, options: Options) => AsyncIterable<ResponseOf<M>>
      : (request: RequestOf<M>, options: Options) => Promise<ResponseOf<M>>;

/** What a service implements for one method. */
export type Handler<M, Context> = ClientMethod<M, Context>;

export type Client<S, Options> = { [K in keyof S]: ClientMethod<S[K], Options> };
export type Handlers<S, Context> = { [K in keyof S]: Handler<S[K], Context> };
