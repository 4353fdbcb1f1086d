import { Client, type Metadata, credentials, type MethodDefinition } from '@grpc/grpc-js';
import type { CallOptions } from './call-context';
import type { Channel } from './channel';
import { fromServiceError } from './error-mapping';
import { toMetadata } from './metadata';
import type { PrincipalSigner } from './principal-token';

const CHANNEL_OPTIONS = {
  'grpc.max_receive_message_length': 48 * 1024 * 1024,
  'grpc.max_send_message_length': 48 * 1024 * 1024,
  'grpc.keepalive_time_ms': 30_000,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 2_000,
};

/** Calls a service of another process over HTTP/2. */
export class GrpcChannel implements Channel {
  private readonly client: Client;

  /** @param address `host:port` */
  constructor(
    address: string,
    private readonly signer: PrincipalSigner,
  ) {
    this.client = new Client(address, credentials.createInsecure(), CHANNEL_OPTIONS);
  }

  unary<Req, Res>(
    method: MethodDefinition<Req, Res>,
    request: Req,
    options: CallOptions,
  ): Promise<Res> {
    return new Promise((resolve, reject) => {
      const call = this.client.makeUnaryRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        request,
        this.metadata(options),
        { deadline: options.deadline },
        (error, response) => (error ? reject(fromServiceError(error)) : resolve(response as Res)),
      );
      options.signal?.addEventListener('abort', () => call.cancel(), { once: true });
    });
  }

  clientStream<Req, Res>(
    method: MethodDefinition<Req, Res>,
    requests: AsyncIterable<Req>,
    options: CallOptions,
  ): Promise<Res> {
    return new Promise((resolve, reject) => {
      const call = this.client.makeClientStreamRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        this.metadata(options),
        { deadline: options.deadline },
        (error, response) => (error ? reject(fromServiceError(error)) : resolve(response as Res)),
      );
      options.signal?.addEventListener('abort', () => call.cancel(), { once: true });
      void pump(requests, call).catch((error: Error) => {
        reject(error);
        call.cancel();
      });
    });
  }

  async *serverStream<Req, Res>(
    method: MethodDefinition<Req, Res>,
    request: Req,
    options: CallOptions,
  ): AsyncIterable<Res> {
    const call = this.client.makeServerStreamRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      request,
      this.metadata(options),
      { deadline: options.deadline },
    );
    options.signal?.addEventListener('abort', () => call.cancel(), { once: true });
    try {
      for await (const message of call) yield message as Res;
    } catch (error) {
      throw fromServiceError(error as never);
    }
  }

  ping(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.client.waitForReady(Date.now() + 2_000, (error) =>
        error ? reject(fromServiceError(error as never)) : resolve(),
      );
    });
  }

  close(): Promise<void> {
    this.client.close();
    return Promise.resolve();
  }

  private metadata(options: CallOptions): Metadata {
    return toMetadata(options, this.signer.sign(options.principal));
  }
}

interface Writable<T> {
  write(message: T): boolean;
  once(event: 'drain' | 'close' | 'error', listener: () => void): unknown;
  end(): void;
  writableNeedDrain: boolean;
  destroyed: boolean;
}

async function pump<T>(messages: AsyncIterable<T>, call: unknown): Promise<void> {
  const sink = call as Writable<T>;
  for await (const message of messages) {
    if (sink.destroyed) return;
    if (!sink.write(message)) {
      await new Promise<void>((resolve) => {
        sink.once('drain', resolve);
        sink.once('close', resolve);
        sink.once('error', resolve);
      });
    }
  }
  sink.end();
}
