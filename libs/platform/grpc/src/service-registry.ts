import type { MethodDefinition } from '@grpc/grpc-js';
import { DomainError } from '@dak/kernel';
import { inSpan, isTracing, streamInSpan } from '@dak/platform/telemetry';
import type { CallContext } from './call-context';
import type { Handlers, ServiceDefinition } from './service-definition';

export interface RegisteredMethod {
  definition: MethodDefinition<unknown, unknown>;
  /** A handler of whichever shape the definition says. */
  handler: (input: never, context: CallContext) => unknown;
  /** For the gateway itself and other services, without a principal; people cannot call it. */
  internal: boolean;
}

/** The methods that a process serves, by full path; both channel drivers dispatch through it. */
export class ServiceRegistry {
  private readonly methods = new Map<string, RegisteredMethod>();

  register<S extends ServiceDefinition>(
    definition: S,
    handlers: Handlers<S, CallContext>,
    options: { internal?: boolean } = {},
  ): void {
    for (const [name, method] of Object.entries(definition)) {
      this.methods.set(method.path, {
        definition: method,
        handler: traced(method, (handlers as Record<string, RegisteredMethod['handler']>)[name]!),
        internal: options.internal ?? false,
      });
    }
  }

  /** @throws DomainError `internal` if no service handles the path: the composition is wrong. */
  find(path: string): RegisteredMethod {
    const method = this.methods.get(path);
    if (method === undefined) {
      throw new DomainError('internal', 'unimplemented', `No service answers ${path}.`);
    }
    return method;
  }

  entries(): IterableIterator<[string, RegisteredMethod]> {
    return this.methods.entries();
  }
}

/** Every call has its own span, below its caller's; the handler passes it on. */
function traced(
  { path, responseStream }: MethodDefinition<unknown, unknown>,
  handler: RegisteredMethod['handler'],
): RegisteredMethod['handler'] {
  const name = path.slice(1);
  const spanOf = ({ traceparent, requestId }: CallContext) =>
    ({
      kind: 'server',
      attributes: { 'rpc.system': 'grpc', 'dak.request_id': requestId },
      parent: traceparent,
    }) as const;
  return (input, context) => {
    if (!isTracing()) return handler(input, context);
    const call = (traceparent: string | undefined) =>
      handler(input, { ...context, traceparent: traceparent ?? null });
    return responseStream
      ? streamInSpan(name, spanOf(context), call as (t?: string) => AsyncIterable<unknown>)
      : inSpan(name, spanOf(context), call as (t?: string) => Promise<unknown>);
  };
}
