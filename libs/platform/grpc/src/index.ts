export type { CallContext, CallOptions, IdempotencyKey } from './call-context';
export type { Channel } from './channel';
export { createClient } from './client';
export { GrpcChannel } from './grpc-channel';
export { startGrpcServer, type GrpcServer, type GrpcServerOptions } from './grpc-server';
export { InProcessChannel } from './in-process-channel';
export { PrincipalSigner, PrincipalVerifier } from './principal-token';
export type { Client, Handlers, ServiceDefinition } from './service-definition';
export { ServiceRegistry } from './service-registry';
