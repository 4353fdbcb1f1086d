import type { MethodDefinition } from '@grpc/grpc-js';
import { DomainError } from '@dak/kernel';
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
        handler: (handlers as Record<string, RegisteredMethod['handler']>)[name]!,
        internal: options.internal ?? false,
      });
    }
  }

  /** @throws DomainError `internal` when nobody serves the path: the composition is wrong. */
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
