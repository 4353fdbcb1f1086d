import {
  Client,
  credentials,
  type Metadata,
  type MethodDefinition,
  type ServiceError,
} from '@grpc/grpc-js';
import type { CallOptions } from './call-context';
import type { CallSigner } from './call-token';
import type { Channel } from './channel';
import { fromServiceError, isLostConnection } from './error-mapping';
import { toMetadata } from './metadata';
import { hostsOf, serverNameOptions, type GrpcTls } from './grpc-tls';
import { replicaTarget } from './replica-resolver';

const CHANNEL_OPTIONS = {
  'grpc.max_receive_message_length': 48 * 1024 * 1024,
  'grpc.max_send_message_length': 48 * 1024 * 1024,
  // A replica that hangs or is cut off is noticed within 7 s: answers are promised within 10.
  'grpc.keepalive_time_ms': 3_000,
  'grpc.keepalive_timeout_ms': 4_000,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 2_000,
  // Nobody asks for its statistics, which every call would be counted in.
  'grpc.enable_channelz': 0,
  // The default of 64 KB for all calls of a connection stops two pages that arrive at once.
  'grpc-node.flow_control_window': 4 * 1024 * 1024,
  'grpc.service_config': JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
};

/**
 * Calls a service of other processes over HTTP/2, its replicas in turn, those that are connected only. A
 * call that never left this process is retried on another replica automatically (grpc-js). One whose connection is
 * lost on the way may have been carried out: it is sent once more only if that does no harm, because it
 * reads or because its answer is stored under an idempotency key.
 */
export class GrpcChannel implements Channel {
  private readonly client: Client;

  /**
   * @param addresses `host:port` of the service, or a comma list with one for each replica
   * @param tls for mutual TLS; null = plain
   */
  constructor(
    addresses: string,
    private readonly signer: CallSigner,
    tls: GrpcTls | null = null,
  ) {
    const hosts = hostsOf(addresses);
    this.client = new Client(
      replicaTarget(addresses),
      tls?.channelCredentials(hosts) ?? credentials.createInsecure(),
      { ...CHANNEL_OPTIONS, ...(tls === null ? {} : serverNameOptions(hosts)) },
    );
  }

  async unary<Req, Res>(
    method: MethodDefinition<Req, Res>,
    request: Req,
    options: CallOptions,
  ): Promise<Res> {
    try {
      return await this.call(method, request, options);
    } catch (error) {
      if (!isLostConnection(error as ServiceError) || !isRepeatable(options)) {
        throw fromServiceError(error as ServiceError);
      }
    }
    return this.call(method, request, options).catch((error: unknown) => {
      throw fromServiceError(error as ServiceError);
    });
  }

  private call<Req, Res>(
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
        (error, response) => (error ? reject(error) : resolve(response as Res)),
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
    let isBegun = false;
    try {
      for await (const message of this.stream(method, request, options)) {
        isBegun = true;
        yield message;
      }
      return;
    } catch (error) {
      if (isBegun || !isLostConnection(error as ServiceError) || !isRepeatable(options)) {
        throw fromServiceError(error as ServiceError);
      }
    }
    try {
      yield* this.stream(method, request, options);
    } catch (error) {
      throw fromServiceError(error as ServiceError);
    }
  }

  private stream<Req, Res>(
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
    return call as AsyncIterable<Res>;
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

function isRepeatable(options: CallOptions): boolean {
  if (options.signal?.aborted === true) return false;
  return options.isRead === true || options.idempotency !== undefined;
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
