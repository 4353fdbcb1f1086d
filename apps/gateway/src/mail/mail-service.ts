import {
  ATTACHMENT_LIMITS,
  CONVERSATION_LIMITS,
  DOMAIN_LIMITS,
  MAX_LABELS,
  RULE_LIMITS,
  SUBMISSION_LIMITS,
  TEMPLATE_LIMITS,
} from '@dak/contracts/api';
import { uuidv7 } from '@dak/kernel';
import type { Channel } from '@dak/platform/grpc';
import { tenantDirectory, type ServiceBackend } from '../backend/backend';
import { isFound } from '../backend/is-found';
import { analyticsRoutes } from './analytics-routes';
import { attachmentRoutes } from './attachment-routes';
import { conversationSetRoutes } from './conversation-set-routes';
import { conversationRoutes } from './conversation-routes';
import { domainRoutes } from './domain-routes';
import { draftRoutes } from './draft-routes';
import { importRoutes } from './import-routes';
import { labelRoutes } from './label-routes';
import { createMailClients } from './mail-clients';
import { createMailKeeper } from './mail-keeper';
import { mailboxRoutes } from './mailbox-routes';
import { messageRoutes } from './message-routes';
import { outboxRoutes } from './outbox-routes';
import { reportRoutes } from './report-routes';
import { ruleRoutes } from './rule-routes';
import { searchRoutes } from './search-routes';
import { signatureRoutes } from './signature-routes';
import { submissionRoutes } from './submission-routes';
import { templateRoutes } from './template-routes';

const DOMAINS_WITHIN_MS = 10_000;

/** Limits of the mail service, for `/capabilities`. */
const LIMITS = {
  ...SUBMISSION_LIMITS,
  ...ATTACHMENT_LIMITS,
  ...TEMPLATE_LIMITS,
  ...DOMAIN_LIMITS,
  ...CONVERSATION_LIMITS,
  labels_per_conversation: MAX_LABELS,
  ...RULE_LIMITS,
};

/** The mail service behind `channel`, as the gateway uses it: its routes, and checks for identity. */
export function mailService(
  channel: Channel,
): ServiceBackend<
  'visibleMailboxIds' | 'seesMailbox' | 'visibility' | 'mailKeeper' | 'putDomains'
> {
  const clients = createMailClients(channel);
  return {
    tenants: tenantDirectory(channel),
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
    provides: {
      visibleMailboxIds: async (call) => {
        const { mailboxIds } = await clients.mailboxes.getVisibility({}, call);
        return mailboxIds;
      },
      seesMailbox: (id, call) => isFound(clients.mailboxes.getMailbox({ id }, call)),
      visibility: clients.visibility,
      mailKeeper: createMailKeeper(clients.retention),
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
          {
            principal: null,
            requestId: `domains-${uuidv7()}`,
            deadline: Date.now() + DOMAINS_WITHIN_MS,
          },
        );
        return put.names;
      },
    },
  };
}
