import type { MethodDefinition } from '@grpc/grpc-js';
import type { CallOptions } from './call-context';
import type { Channel } from './channel';
import type { Client, ServiceDefinition } from './service-definition';

/** Typed methods over a channel: promises for unary and upload calls, async iterables for downloads. */
export function createClient<S extends ServiceDefinition>(
  definition: S,
  channel: Channel,
): Client<S, CallOptions> {
  const methods: Record<string, unknown> = {};
  for (const [name, method] of Object.entries(definition)) {
    methods[name] = bind(method, channel);
  }
  return methods as Client<S, CallOptions>;
}

function bind(method: MethodDefinition<unknown, unknown>, channel: Channel): unknown {
  if (method.requestStream) {
    return (requests: AsyncIterable<unknown>, options: CallOptions) =>
      channel.clientStream(method, requests, options);
  }
  if (method.responseStream) {
    return (request: unknown, options: CallOptions) =>
      channel.serverStream(method, request, options);
  }
  return (request: unknown, options: CallOptions) => channel.unary(method, request, options);
}
