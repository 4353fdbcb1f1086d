import type { Clock, Principal } from '@dak/kernel';
import type { CallOptions } from '@dak/platform/grpc';
import type { AnnounceKeyEnd } from '../announcements/key-end-store';
import type { AnnounceOperations } from '../announcements/operations-store';
import type { AnnounceOrganization } from '../announcements/organization-store';
import type { AnnounceUser } from '../announcements/user-store';
import type { ServiceLimits } from '../discovery/capabilities-route';
import type { FindReaders } from '../event-stream/item-readers';
import type { Route } from '../http';
import type { CredentialHolder } from '../identity/credential-authenticator';
import type { PutDomains } from '../identity/identity-parts';
import type { Keepers } from './keepers';
import type { MailDirectory } from './mail-directory-store';

/** What the gateway lends to the routes of a service. */
export interface RouteParts {
  readonly directory: MailDirectory;
  /** Where clients reach the site, without a slash at the end. */
  readonly siteUrl: string;
  /** 32 bytes, the same on every replica; seals links. */
  readonly ticketKey: Uint8Array;
  readonly clock: Clock;
  /** Who holds a credential now; rejects with `unauthenticated` when it has ended. */
  readonly principalOf: (holder: CredentialHolder) => Promise<Principal>;
  /** Whether the caller sees the mailbox. */
  readonly seesMailbox: SeesMailbox;
  /** Whether the caller sees the webhook. */
  readonly seesWebhook: SeesWebhook;
}

export type SeesMailbox = (mailboxId: string, call: CallOptions) => Promise<boolean>;
export type SeesWebhook = (webhookId: string, call: CallOptions) => Promise<boolean>;

/** What the services behind the gateway bring to it. */
export interface Backend {
  /** Routes of the services, or what makes them of the gateway's parts. */
  routes?: readonly Route[] | ((parts: RouteParts) => readonly Route[]);
  /** Their limits, for `/capabilities`. */
  serviceLimits?: ServiceLimits;
  /** Mailboxes that a regular user sees, from the mail service; nobody sees any without it. */
  visibleMailboxIds?: (call: CallOptions) => Promise<readonly string[]>;
  /** From the mail service; nobody sees any without it. */
  seesMailbox?: SeesMailbox;
  /** From the webhook service; nobody sees any without it. */
  seesWebhook?: SeesWebhook;
  /** Who may read what happened where, from the mail service; without it nobody but administrators sees events. */
  findReaders?: FindReaders;
  /**
   * Makes the organization the owner of exactly these domains, in the mail service.
   * @returns their normalized names
   */
  putDomains?: PutDomains;
  /** Tells the services about a new or changed organization; repeated until it resolves. */
  announceOrganization?: AnnounceOrganization;
  /** What they remove of what they keep. */
  keepers?: Keepers;
  /** Tells the services about a new person, or one whose role, activity or departments changed; repeated likewise. */
  announceUser?: AnnounceUser;
  /** Tells the services that a key has been revoked or has expired; repeated likewise. */
  announceKeyEnd?: AnnounceKeyEnd;
  /** Resolves when what the services noted for the audit log before has reached the event log. */
  settleAudit?: () => Promise<void>;
  /** Tells the services what of the whole deployment is stopped; repeated likewise. */
  announceOperations?: AnnounceOperations;
}

/** Several services as one: their routes one after the other, and what the gateway tells goes to all of them. */
export function combineBackends(backends: readonly Backend[]): Backend {
  const visibility = backends.find(({ visibleMailboxIds }) => visibleMailboxIds !== undefined);
  const mailboxes = backends.find(({ seesMailbox }) => seesMailbox !== undefined);
  const webhooks = backends.find(({ seesWebhook }) => seesWebhook !== undefined);
  const owners = backends.find(({ putDomains }) => putDomains !== undefined);
  const readers = backends.find(({ findReaders }) => findReaders !== undefined);
  return {
    routes: (parts) =>
      backends.flatMap(({ routes = [] }) =>
        typeof routes === 'function' ? routes(parts) : routes,
      ),
    serviceLimits: Object.fromEntries(
      backends.flatMap(({ serviceLimits = {} }) => Object.entries(serviceLimits)),
    ),
    ...(visibility && { visibleMailboxIds: visibility.visibleMailboxIds }),
    ...(mailboxes && { seesMailbox: mailboxes.seesMailbox }),
    ...(webhooks && { seesWebhook: webhooks.seesWebhook }),
    ...(owners && { putDomains: owners.putDomains }),
    ...(readers && { findReaders: readers.findReaders }),
    keepers: combineKeepers(backends.flatMap(({ keepers }) => keepers ?? [])),
    announceOrganization: async (organization) => {
      await Promise.all(
        backends.map(async ({ announceOrganization }) => announceOrganization?.(organization)),
      );
    },
    settleAudit: async () => {
      await Promise.all(backends.map(async ({ settleAudit }) => settleAudit?.()));
    },
    announceUser: async (user) => {
      await Promise.all(backends.map(async ({ announceUser }) => announceUser?.(user)));
    },
    announceKeyEnd: async (end) => {
      await Promise.all(backends.map(async ({ announceKeyEnd }) => announceKeyEnd?.(end)));
    },
    announceOperations: async (operations) => {
      await Promise.all(
        backends.map(async ({ announceOperations }) => announceOperations?.(operations)),
      );
    },
  };
}

function combineKeepers(all: readonly Keepers[]): Keepers {
  const mail = all.find((keepers) => keepers.mail !== undefined)?.mail;
  return {
    ...(mail && { mail }),
    events: all.flatMap(({ events }) => events),
    erasers: all.flatMap(({ erasers }) => erasers),
  };
}
