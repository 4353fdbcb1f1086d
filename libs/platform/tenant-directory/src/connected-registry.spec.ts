import { createClient, InProcessChannel, ServiceRegistry } from '@dak/platform/grpc';
import { TenantDirectoryServiceService } from '@dak/contracts/tenant';
import { uuidv7 } from '@dak/kernel';
import { connectedRegistry, type ConnectedRegistry } from './connected-registry';
import type { TenantHandlers } from './handlers';
import { nothingToDo, type TenantDirectoryParts } from './tenant-directory-parts';

describe('the registry of a service', () => {
  it('answers the announcements of the gateway', async () => {
    const ended: string[] = [];
    const tenants: Pick<TenantHandlers, 'putKeyEnd'> = {
      putKeyEnd: async ({ keyId }) => {
        ended.push(keyId);
        return {};
      },
    };
    const channel = new InProcessChannel(connectedRegistry(tenants as TenantHandlers));
    const client = createClient(TenantDirectoryServiceService, channel);
    const call = { principal: null, requestId: uuidv7(), deadline: Date.now() + 5_000 };
    await client.putKeyEnd({ organizationId: uuidv7(), keyId: 'k' }, call);
    expect(ended).toEqual(['k']);
  });

  it('does not compile where nothing hears of organizations', () => {
    // @ts-expect-error Nobody hears.
    const registry: ConnectedRegistry = new ServiceRegistry();
    expect(registry).toBeDefined();
  });

  it('does not compile where an announcement has no answer', () => {
    const answered: Omit<TenantDirectoryParts, 'database' | 'onKeyEnd'> = {
      onOrganization: nothingToDo,
      onPerson: nothingToDo,
      stopSwitch: null,
      forget: null,
      onErase: nothingToDo,
    };
    // @ts-expect-error What keys made goes on when they end.
    const parts: Omit<TenantDirectoryParts, 'database'> = answered;
    expect(parts).toBeDefined();
  });
});
