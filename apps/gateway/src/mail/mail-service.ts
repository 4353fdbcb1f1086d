import { uuidv7 } from '@dak/kernel';
import type { Channel } from '@dak/platform/grpc';
import type { GatewayOptions } from '../service';
import { createMailClients } from './mail-clients';

const ANNOUNCE_WITHIN_MS = 10_000;

/** What the gateway needs of the mail service behind `channel`: its routes and what identity asks of it. */
export function mailService(
  channel: Channel,
): Pick<GatewayOptions, 'routes' | 'visibleMailboxIds' | 'announceOrganization'> {
  const clients = createMailClients(channel);
  return {
    routes: [],
    visibleMailboxIds: async (call) => {
      const { mailboxIds } = await clients.mailboxes.getVisibility({}, call);
      return mailboxIds;
    },
    announceOrganization: async (organization) => {
      await clients.tenants.putOrganization(
        {
          organizationId: organization.organizationId,
          name: organization.name,
          status: organization.status,
          timeZone: organization.timeZone,
          ...(organization.defaultFromName === null
            ? {}
            : { defaultFromName: organization.defaultFromName }),
        },
        {
          principal: null,
          requestId: `announce-${uuidv7()}`,
          deadline: Date.now() + ANNOUNCE_WITHIN_MS,
        },
      );
    },
  };
}
