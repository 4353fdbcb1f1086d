import type { MethodDefinition } from '@grpc/grpc-js';
import { inSpan, isTracing, streamInSpan } from '@dak/platform/telemetry';
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
      traced(method, options, (traced) => channel.clientStream(method, requests, traced));
  }
  if (method.responseStream) {
    return (request: unknown, options: CallOptions) => {
      if (!isTracing()) return channel.serverStream(method, request, options);
      return streamInSpan(nameOf(method), spanOf(options), (traceparent) =>
        channel.serverStream(method, request, within(options, traceparent)),
      );
    };
  }
  return (request: unknown, options: CallOptions) =>
    traced(method, options, (traced) => channel.unary(method, request, traced));
}

function traced(
  method: MethodDefinition<unknown, unknown>,
  options: CallOptions,
  call: (options: CallOptions) => Promise<unknown>,
): Promise<unknown> {
  if (!isTracing()) return call(options);
  return inSpan(nameOf(method), spanOf(options), (traceparent) =>
    call(within(options, traceparent)),
  );
}

/** As OpenTelemetry names calls: `package.Service/Method`. */
function nameOf({ path }: MethodDefinition<unknown, unknown>): string {
  return path.slice(1);
}

function spanOf({ traceparent }: CallOptions) {
  return { kind: 'client', attributes: RPC, parent: traceparent } as const;
}

function within(options: CallOptions, traceparent: string | undefined): CallOptions {
  return traceparent === undefined ? options : { ...options, traceparent };
}

const RPC = { 'rpc.system': 'grpc' };
