/** The services in the order of their start: a service comes after those that it calls. */
export const SERVICES = ['mail', 'webhook', 'gateway'] as const;
export type ServiceName = (typeof SERVICES)[number];

/** Those that answer gRPC; the gateway is reached over HTTP only. */
export const GRPC_SERVICES = SERVICES.filter((name) => name !== 'gateway');
