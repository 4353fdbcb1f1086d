import { DOMAIN_LIMITS, MAILBOX_LIMITS, RULE_LIMITS, TEMPLATE_LIMITS } from '@dak/contracts/api';
import { DomainError, uuidv7 } from '@dak/kernel';
import type { CallOptions, Channel } from '@dak/platform/grpc';
import type { Backend } from '../backend/backend';
import { analyticsRoutes } from './analytics';
import { attachmentRoutes } from './attachments';
import { conversationSetRoutes } from './conversation-sets';
import { conversationRoutes } from './conversations';
import { domainRoutes } from './domains';
import { draftRoutes } from './drafts';
import { createFindReaders } from './find-readers';
import { importRoutes } from './imports';
import { labelRoutes } from './labels';
import { createMailClients } from './mail-clients';
import { mailKeepers } from './mail-keepers';
import { mailboxRoutes } from './mailboxes';
import { messageRoutes } from './messages';
import { outboxRoutes } from './outbox';
import { reportRoutes } from './reports';
import { ruleRoutes } from './rules';
import { searchRoutes } from './search';
import { signatureRoutes } from './signatures';
import { submissionRoutes } from './submissions';
import { templateRoutes } from './templates';

const ANNOUNCE_WITHIN_MS = 10_000;
const MB = 1024 * 1024;

/** What the mail service accepts, for `/capabilities`. */
const LIMITS = {
  recipients_per_message: MAILBOX_LIMITS.recipients_per_message,
  message_bytes: 25 * MB,
  attachment_bytes: 20 * MB,
  attachments_per_message: 20,
  mail_body_bytes: 2 * MB,
  ...TEMPLATE_LIMITS,
  ...DOMAIN_LIMITS,
  ...RULE_LIMITS,
};

/** What the gateway needs of the mail service behind `channel`: its routes and what identity asks of it. */
export function mailService(channel: Channel): Backend {
  const clients = createMailClients(channel);
  return {
    routes: ({ directory, ...parts }) => [
      ...mailboxRoutes(clients, directory),
      ...conversationRoutes(clients, directory),
      ...conversationSetRoutes(clients, directory),
      ...messageRoutes(clients, directory),
      ...labelRoutes(clients),
      ...ruleRoutes(clients, { directory, seesWebhook: parts.seesWebhook }),
      ...searchRoutes(clients),
      ...submissionRoutes(clients),
      ...draftRoutes(clients),
      ...signatureRoutes(clients),
      ...templateRoutes(clients),
      ...outboxRoutes(clients),
      ...attachmentRoutes(clients, parts),
      ...importRoutes(clients),
      ...domainRoutes(clients),
      ...analyticsRoutes(clients),
      ...reportRoutes(clients),
    ],
    serviceLimits: LIMITS,
    visibleMailboxIds: async (call) => {
      const { mailboxIds } = await clients.mailboxes.getVisibility({}, call);
      return mailboxIds;
    },
    keepers: mailKeepers(clients.retention),
    findReaders: createFindReaders(clients),
    seesMailbox: async (id, call) => {
      try {
        await clients.mailboxes.getMailbox({ id }, call);
        return true;
      } catch (error) {
        if (error instanceof DomainError && error.kind === 'not_found') return false;
        throw error;
      }
    },
    announceUser: async ({ organizationId, userId, role, active, departmentIds, version }) => {
      await clients.tenants.putUser(
        { organizationId, userId, role, active, departmentIds, version },
        announcement(),
      );
    },
    announceKeyEnd: async ({ organizationId, keyId }) => {
      await clients.tenants.putKeyEnd({ organizationId, keyId }, announcement());
    },
    announceOperations: async ({ outgoing, version }) => {
      await clients.tenants.putOperations({ outgoing, version }, announcement());
    },
    putDomains: async (organizationId, names, { principal, requestId }, { isClaim } = {}) => {
      const put = await clients.tenants.putDomains(
        {
          organizationId,
          names: [...names],
          userId: principal.userId,
          userName: principal.userName,
          requestId,
          isClaim: isClaim ?? false,
        },
        announcement(),
      );
      return put.names;
    },
    announceOrganization: async (organization) => {
      await clients.tenants.putOrganization(
        {
          organizationId: organization.organizationId,
          name: organization.name,
          status: organization.status,
          outgoing: organization.outgoing,
          timeZone: organization.timeZone,
          firstDomains: organization.firstDomains,
          version: organization.version,
          ...(organization.defaultFromName === null
            ? {}
            : { defaultFromName: organization.defaultFromName }),
          ...(organization.storageBytes === null
            ? {}
            : { storageBytes: organization.storageBytes }),
        },
        announcement(),
      );
    },
    settleAudit: async () => {
      await clients.tenants.settleAudit({}, announcement());
    },
  };
}

function announcement(): CallOptions {
  return {
    principal: null,
    requestId: `announce-${uuidv7()}`,
    deadline: Date.now() + ANNOUNCE_WITHIN_MS,
  };
}
