import { TenantDirectoryServiceService } from '@dak/contracts/tenant';
import { ServiceRegistry } from '@dak/platform/grpc';
import type { TenantHandlers } from './handlers';

declare const connected: unique symbol;

/** The methods of a service that hears of organizations and people; `startServiceProcess` takes no other. */
export type ConnectedRegistry = ServiceRegistry & { readonly [connected]: true };

/** The only way to one. */
export function connectedRegistry(tenants: TenantHandlers): ConnectedRegistry {
  const registry = new ServiceRegistry();
  registry.register(TenantDirectoryServiceService, tenants, { internal: true });
  return registry as ConnectedRegistry;
}
