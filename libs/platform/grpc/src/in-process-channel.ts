import type { MethodDefinition } from '@grpc/grpc-js';
import { DomainError } from '@dak/kernel';
import type { CallContext, CallOptions } from './call-context';
import type { Channel } from './channel';
import { withinDeadline } from './deadline';
import { toDomainError } from './error-mapping';
import type { RegisteredMethod, ServiceRegistry } from './service-registry';

const NEVER_ABORTED = new AbortController().signal;

/**
 * Calls a service of the same process: no socket, no serialization, messages by reference (a handler
 * must not change its request). Deadline, principal and error rules are those of the wire.
 */
export class InProcessChannel implements Channel {
  constructor(private readonly registry: ServiceRegistry) {}

  unary<Req, Res>(
    definition: MethodDefinition<Req, Res>,
    request: Req,
    options: CallOptions,
  ): Promise<Res> {
    return this.invoke<Res>(definition.path, request, options);
  }

  clientStream<Req, Res>(
    definition: MethodDefinition<Req, Res>,
    requests: AsyncIterable<Req>,
    options: CallOptions,
  ): Promise<Res> {
    return this.invoke<Res>(definition.path, requests, options);
  }

  async *serverStream<Req, Res>(
    definition: MethodDefinition<Req, Res>,
    request: Req,
    options: CallOptions,
  ): AsyncIterable<Res> {
    try {
      const method = this.registry.find(definition.path);
      yield* method.handler(request as never, contextOf(method, options)) as AsyncIterable<Res>;
    } catch (error) {
      throw toDomainError(error);
    }
  }

  ping(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  private async invoke<Res>(path: string, input: unknown, options: CallOptions): Promise<Res> {
    try {
      const method = this.registry.find(path);
      const work = method.handler(input as never, contextOf(method, options)) as Promise<Res>;
      return await withinDeadline(work, options.deadline, Date.now());
    } catch (error) {
      throw toDomainError(error);
    }
  }
}

function contextOf(method: RegisteredMethod, options: CallOptions): CallContext {
  if ((options.principal === null) !== method.internal) {
    throw new DomainError('forbidden', 'wrong_principal', 'This call is not for this caller.');
  }
  return {
    principal: options.principal as CallContext['principal'],
    requestId: options.requestId,
    deadline: options.deadline,
    signal: options.signal ?? NEVER_ABORTED,
    idempotency: options.idempotency ?? null,
    traceparent: options.traceparent ?? null,
  };
}
