import type { TenantDirectory } from '../src/announcements/tenant-directories';

/** A service behind the gateway that hears everything and does nothing but what the test says. */
export function silentService(change: Partial<TenantDirectory> = {}): TenantDirectory {
  const hear = async () => ({});
  return {
    putOrganization: hear,
    putUser: hear,
    putKeyEnd: hear,
    putOperations: hear,
    settleAudit: hear,
    forget: async () => ({ events: 0, more: false }),
    eraseOrganization: async () => ({ rows: 0, blobs: 0, bytes: 0, more: false }),
    ...change,
  };
}
