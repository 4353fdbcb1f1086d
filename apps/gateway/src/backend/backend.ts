import { TenantDirectoryServiceService } from '@dak/contracts/tenant';
import type { Clock, Principal } from '@dak/kernel';
import { createClient, type CallOptions, type Channel } from '@dak/platform/grpc';
import type { VisibilityClient } from '@dak/platform/visibility';
import type { TenantDirectory } from '../announcements/tenant-directories';
import type { ServiceLimits } from '../discovery/capabilities-route';
import type { Route } from '../http';
import type { CredentialHolder } from '../identity/credential-authenticator';
import type { PutDomains } from '../identity/identity-parts';
import type { MailKeeper } from './keepers';
import type { MailDirectory } from './mail-directory-store';

/** What the gateway provides to the routes of a service. */
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

/** Capabilities the gateway needs, each from exactly one service. */
export interface Capabilities {
  /** Mailboxes that a regular user sees. */
  readonly visibleMailboxIds: (call: CallOptions) => Promise<readonly string[]>;
  readonly seesMailbox: SeesMailbox;
  readonly seesWebhook: SeesWebhook;
  /** Finds who may read an event. */
  readonly visibility: VisibilityClient;
  /**
   * Makes the organization the owner of exactly these domains.
   * @returns their normalized names
   */
  readonly putDomains: PutDomains;
  /** Removes mail and returns what it removed. */
  readonly mailKeeper: MailKeeper;
}

/** What one service provides to the gateway. */
export interface ServiceBackend<Provided extends keyof Capabilities = never> {
  /** Hears of organizations, people, ended keys and switches; see {@link tenantDirectory}. */
  readonly tenants: TenantDirectory;
  readonly routes: (parts: RouteParts) => readonly Route[];
  /** For `/capabilities`. */
  readonly serviceLimits: ServiceLimits;
  readonly provides: Pick<Capabilities, Provided>;
}

/** What all of them bring together. */
export interface Backend extends Capabilities {
  readonly tenants: readonly TenantDirectory[];
  readonly routes: (parts: RouteParts) => readonly Route[];
  readonly serviceLimits: ServiceLimits;
}

export function tenantDirectory(channel: Channel): TenantDirectory {
  return createClient(TenantDirectoryServiceService, channel);
}

type Services = Readonly<Record<string, ServiceBackend>>;
type ProvidedBy<Service> = Service extends { provides: infer P } ? keyof P : never;
type Missing<All extends Services> = Exclude<keyof Capabilities, ProvidedBy<All[keyof All]>>;
type Repeated<All extends Services> = {
  [Name in keyof All]: ProvidedBy<All[Name]> & ProvidedBy<All[Exclude<keyof All, Name>]>;
}[keyof All];
/** Nothing to add, or a member that no service has, named for the message of the compiler. */
type EachProvidedOnce<All extends Services> = [Missing<All>] extends [never]
  ? [Repeated<All>] extends [never]
    ? unknown
    : { providedTwice: Repeated<All> }
  : { providedByNone: Missing<All> };

/** Several services as one. Does not compile unless each capability is provided by exactly one of them. */
export function combineBackends<All extends Services>(
  services: All & EachProvidedOnce<All>,
): Backend {
  const all: readonly ServiceBackend[] = Object.values(services);
  return {
    ...(membersOf(all.map(({ provides }) => provides)) as unknown as Capabilities),
    tenants: all.map(({ tenants }) => tenants),
    routes: (parts) => all.flatMap(({ routes }) => routes(parts)),
    serviceLimits: membersOf(all.map(({ serviceLimits }) => serviceLimits)),
  };
}

function membersOf<T>(objects: readonly Readonly<Record<string, T>>[]): Record<string, T> {
  return Object.fromEntries(objects.flatMap((object) => Object.entries(object)));
}
