import type { ApiClient, ApiReply } from '@dak/testing/api-client';
import type { Stack } from '../../stack/stack';
import type { Tenant, TenantMailbox } from '../../stack/tenant';

/** A request that its route answers with success, when whoever may send it does so. */
export interface PlainRequest {
  params?: Record<string, string>;
  query?: Record<string, string>;
  /** An object is sent as JSON; bytes and forms as they are. */
  body?: unknown;
  headers?: Record<string, string>;
}

/** What a request is prepared with: by the admin, in this mailbox. */
export interface Parts {
  stack: Stack;
  tenant: Tenant;
  mailbox: TenantMailbox;
  client: ApiClient;
}

type Given<T> = T | ((parts: Parts) => T | Promise<T>);

/** Why a route that may change something leaves no entry in the audit log of the organization. */
type Reason =
  /** Work on mail: the append-only activity of the conversation has it, and the record its author. */
  | 'activity'
  /** Seen by whoever works on it alone, until it is sent. */
  | 'draft'
  /** Changes nothing that lasts. */
  | 'reading'
  /** The plain request of the tests finds everything as it asks for; its own suite sees the entries. */
  | 'unchanged';

export type AuditedChange =
  { action: string; why?: undefined } | { action?: undefined; why: Reason };

/**
 * What the tests cannot derive from the route table. A noun whose records are posted to `/things`, changed and deleted
 * at `/things/{id}` and whose bodies follow from their schemas needs none.
 */
export interface Noun {
  /** By the path of a collection, how a record in it is found. @default one is posted there */
  records?: Readonly<
    Record<string, (parts: Parts, parents: Record<string, string>) => string | Promise<string>>
  >;
  /** By `METHOD path`, what of the request is not derived. */
  requests?: Readonly<Record<string, Given<PlainRequest>>>;
  /** By `METHOD path`, what it leaves in the audit log. @default `thing.created`, `.updated` and `.deleted` */
  audited?: Readonly<Record<string, AuditedChange>>;
}

export const noted = (action: string): AuditedChange => ({ action });
export const activity: AuditedChange = { why: 'activity' };
export const draft: AuditedChange = { why: 'draft' };
export const reading: AuditedChange = { why: 'reading' };
export const unchanged: AuditedChange = { why: 'unchanged' };

export async function idOf(reply: Promise<ApiReply>): Promise<string> {
  const { status, body } = await reply;
  if (status !== 201) throw new Error(`got ${status} ${JSON.stringify(body)}`);
  return body.id;
}

export function lastSegment(url: string): string {
  return url.slice(url.lastIndexOf('/') + 1);
}

/** RFC 3339. */
export function inHours(hours: number): string {
  return new Date(Date.now() + hours * 3_600_000).toISOString();
}
