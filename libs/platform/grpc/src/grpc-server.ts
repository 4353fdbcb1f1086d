import {
  Server,
  ServerCredentials,
  type Metadata,
  type MethodDefinition,
  type ServerUnaryCall,
  type UntypedHandleCall,
} from '@grpc/grpc-js';
import { DomainError } from '@dak/kernel';
import type { CallContext } from './call-context';
import type { CallerVerifier } from './caller-verifier';
import { toServiceError } from './error-mapping';
import type { GrpcTls } from './grpc-tls';
import { fromMetadata, principalTokenOf } from './metadata';
import type { RegisteredMethod, ServiceRegistry } from './service-registry';

const HEALTH_PATH = '/grpc.health.v1.Health/Check';
/** Statistics (channelz) stay on: without them `forceShutdown` of grpc-js 1.14 leaves connections alone. */
const SERVER_OPTIONS = {
  'grpc.max_receive_message_length': 48 * 1024 * 1024,
  'grpc.max_send_message_length': 48 * 1024 * 1024,
};

export interface GrpcServerOptions {
  registry: ServiceRegistry;
  verifier: CallerVerifier;
  host: string;
  /** Callers have to show a certificate; null = plain. @default null */
  tls?: GrpcTls | null;
  /** 0 = any free port. */
  port: number;
  /** Rejects while a dependency is down; the standard health service reports it (grpc.health.v1). */
  isReady: () => Promise<void>;
  onError: (error: unknown, path: string, requestId: string) => void;
}

export interface GrpcServer {
  port: number;
  /** Refuses new calls, lets running ones finish for `graceMs`, then cuts them off. */
  close(graceMs: number): Promise<void>;
}

/** Serves a registry over HTTP/2: the caller is verified here, before any handler runs. */
export async function startGrpcServer(options: GrpcServerOptions): Promise<GrpcServer> {
  const server = new Server(SERVER_OPTIONS);
  const definitions: Record<string, MethodDefinition<unknown, unknown>> = {};
  const implementations: Record<string, UntypedHandleCall> = {};
  for (const [path, method] of options.registry.entries()) {
    definitions[path] = method.definition;
    implementations[path] = implement(method, options);
  }
  server.addService(definitions, implementations);
  addHealth(server, options.isReady);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(
      `${options.host}:${options.port}`,
      options.tls?.serverCredentials() ?? ServerCredentials.createInsecure(),
      (error, bound) => (error ? reject(error) : resolve(bound)),
    );
  });
  return { port, close: (graceMs) => close(server, graceMs) };
}

interface AnyCall extends AsyncIterable<unknown> {
  metadata: Metadata;
  request: unknown;
  getDeadline(): Date | number;
  write(message: unknown): boolean;
  once(event: 'drain' | 'cancelled', listener: () => void): unknown;
  end(): void;
  emit(event: 'error', error: unknown): void;
  cancelled: boolean;
}
type Callback = (error: unknown, response?: unknown) => void;

function implement(method: RegisteredMethod, options: GrpcServerOptions): UntypedHandleCall {
  const { definition } = method;
  const handle = async (call: AnyCall): Promise<unknown> => {
    const context = contextOf(call, method, options.verifier);
    const input = definition.requestStream ? call : call.request;
    return await method.handler(input as never, context);
  };
  const report = (error: unknown, call: AnyCall): unknown => {
    if (!(error instanceof DomainError)) {
      options.onError(error, definition.path, fromMetadata(call.metadata).requestId);
    }
    return toServiceError(error);
  };
  if (!definition.responseStream) {
    return ((call: AnyCall, callback: Callback) => {
      handle(call).then(
        (response) => callback(null, response),
        (error: unknown) => callback(report(error, call)),
      );
    }) as unknown as UntypedHandleCall;
  }
  return ((call: AnyCall) => {
    streamOut(handle(call) as Promise<AsyncIterable<unknown>>, call).catch((error: unknown) =>
      call.emit('error', report(error, call)),
    );
  }) as unknown as UntypedHandleCall;
}

async function streamOut(source: Promise<AsyncIterable<unknown>>, call: AnyCall): Promise<void> {
  for await (const message of await source) {
    if (call.cancelled) return;
    if (!call.write(message)) {
      await new Promise<void>((resolve) => {
        call.once('drain', resolve);
        call.once('cancelled', resolve);
      });
    }
  }
  call.end();
}

function contextOf(call: AnyCall, method: RegisteredMethod, verifier: CallerVerifier): CallContext {
  const principal = verifier.verify(principalTokenOf(call.metadata));
  if ((principal === null) !== method.internal) {
    throw new DomainError('forbidden', 'wrong_principal', 'This call is not for this caller.');
  }
  const deadline = call.getDeadline();
  let signal: AbortSignal | null = null;
  return {
    ...fromMetadata(call.metadata),
    principal: principal as CallContext['principal'],
    deadline: deadline instanceof Date ? deadline.getTime() : deadline,
    // grpc-js says `cancelled` at the end of every call, and an abort makes an error with its stack.
    get signal() {
      return (signal ??= cancellationOf(call));
    },
  };
}

function cancellationOf(call: AnyCall): AbortSignal {
  const abort = new AbortController();
  if (call.cancelled) abort.abort();
  else call.once('cancelled', () => abort.abort());
  return abort.signal;
}

/** grpc.health.v1.Health/Check, hand-encoded: one enum field, 1 = SERVING, 2 = NOT_SERVING. */
function addHealth(server: Server, isReady: () => Promise<void>): void {
  const definition: MethodDefinition<Buffer, Buffer> = {
    path: HEALTH_PATH,
    requestStream: false,
    responseStream: false,
    requestSerialize: (value) => value,
    requestDeserialize: (bytes) => bytes,
    responseSerialize: (value) => value,
    responseDeserialize: (bytes) => bytes,
  };
  server.addService(
    { check: definition },
    {
      check: (
        _call: ServerUnaryCall<Buffer, Buffer>,
        callback: (error: null, value: Buffer) => void,
      ) => {
        isReady().then(
          () => callback(null, Buffer.from([8, 1])),
          () => callback(null, Buffer.from([8, 2])),
        );
      },
    },
  );
}

function close(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      server.forceShutdown();
      resolve();
    }, graceMs);
    server.tryShutdown(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
