/** The services behind the gateway, in the order of their start: one comes after those that it calls. */
export const BACKENDS = ['mail', 'webhook'] as const;
export type BackendName = (typeof BACKENDS)[number];

/** Every service has a database of its own, with what tenants have under row-level security. */
export const SERVICES = [...BACKENDS, 'gateway'] as const;
export type ServiceName = (typeof SERVICES)[number];

/** `india-stack` → `INDIA_STACK`. */
type Shouted<Name extends string> = Name extends `${infer Head}-${infer Rest}`
  ? `${Uppercase<Head>}_${Shouted<Rest>}`
  : Uppercase<Name>;

export type ServiceVariable<
  Name extends string,
  What extends string,
> = `DAK_${Shouted<Name>}_${What}`;

/** The variable of one service, such as `DAK_MAIL_GRPC_URL`. */
export function serviceVariable<const Name extends string, const What extends string>(
  service: Name,
  what: What,
): ServiceVariable<Name, What> {
  const shouted = service.toUpperCase().replaceAll('-', '_') as Shouted<Name>;
  return `DAK_${shouted}_${what}`;
}

/** The same variable of several services. */
export function serviceVariables<const Name extends string, const What extends string>(
  services: readonly Name[],
  what: What,
): ServiceVariable<Name, What>[] {
  return services.map((service) => serviceVariable(service, what));
}

/** Something of each service behind the gateway. */
export function ofEachBackend<T>(valueOf: (service: BackendName) => T): Record<BackendName, T> {
  const values = BACKENDS.map((service) => [service, valueOf(service)]);
  return Object.fromEntries(values) as Record<BackendName, T>;
}
