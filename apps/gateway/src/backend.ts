import type { CallOptions } from '@dak/platform/grpc';
import type { ServiceLimits } from './discovery/capabilities-route';
import type { Route } from './http';
import type { AnnounceOrganization } from './organizations/organization-announcer';

/** What the services behind the gateway bring to it. */
export interface Backend {
  /** Routes of the services. */
  routes?: readonly Route[];
  /** Their limits, for `/capabilities`. */
  serviceLimits?: ServiceLimits;
  /** Mailboxes that a regular user sees, from the mail service; nobody sees any without it. */
  visibleMailboxIds?: (call: CallOptions) => Promise<readonly string[]>;
  /** Tells the services about a new or changed organization; repeated until it resolves. */
  announceOrganization?: AnnounceOrganization;
}
