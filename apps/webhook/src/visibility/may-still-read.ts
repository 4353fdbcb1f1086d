import { seesWholeOrganization, type Role } from '@dak/kernel';
import type { Database } from '@dak/platform/postgres';
import { findPeople } from '@dak/platform/tenant-directory';
import {
  findAccess,
  type Place,
  type Reader,
  type VisibilityClient,
} from '@dak/platform/visibility';
import { mayStillGet, type StoredDelivery } from './scopes-of-makers';

/** The facts of an event that decide who may read it. */
export interface EventAccess {
  mailbox_id: string | null;
  department_id: string | null;
  conversation_id: string | null;
  trigger: string;
  /** Only for those who may send in the conversation; null = no. */
  needs_send: boolean | null;
}

/** An event that is sent again. */
export type RepeatedEvent = EventAccess & StoredDelivery;

/**
 * An event is sent again under the same conditions as a new one: its endpoint's owner may read it now, and the keys
 * that made or changed the endpoint have the scopes.
 */
export async function mayStillRead<Event extends RepeatedEvent>(
  { database, visibility }: { database: Database; visibility: VisibilityClient },
  organizationId: string,
  endpoint: { owner_user_id: string; maker_scopes: readonly string[] | null },
  events: readonly Event[],
): Promise<(event: Event) => boolean> {
  const ownerUserId = endpoint.owner_user_id;
  const people = await database.inTenant(organizationId, (tx) =>
    findPeople(tx, organizationId, [ownerUserId]),
  );
  const owner = people.get(ownerUserId);
  if (owner?.active !== true) return () => false;
  const readable = await mayReadNow(visibility, organizationId, owner, events);
  return (event) => readable(event) && mayStillGet(endpoint.maker_scopes, event);
}

/** Asks about these events; the answer must not be kept. */
export async function mayReadNow(
  visibility: VisibilityClient,
  organizationId: string,
  reader: Reader & { role: Role },
  events: readonly EventAccess[],
): Promise<(event: EventAccess) => boolean> {
  if (seesWholeOrganization(reader)) return () => true;
  const mayRead = await findReadable(visibility, organizationId, [reader], events);
  return (event) => mayRead(event, reader.userId);
}

/** Which of these regular users may read which of the events. */
export async function findReadable(
  visibility: VisibilityClient,
  organizationId: string,
  readers: readonly Reader[],
  events: readonly EventAccess[],
): Promise<(event: EventAccess, userId: string) => boolean> {
  const places = events.flatMap((event) => placeOf(event) ?? []);
  const mayRead = await findAccess(visibility, organizationId, places, readers);
  return (event, userId) => {
    const place = placeOf(event);
    // Events outside of conversations are for administrators; test events contain no real data.
    if (place === null) return event.trigger === 'test';
    return mayRead(place, userId, event.needs_send ?? false);
  };
}

function placeOf({ conversation_id, mailbox_id, department_id }: EventAccess): Place | null {
  if (conversation_id === null) return null;
  return { conversationId: conversation_id, mailboxId: mailbox_id, departmentId: department_id };
}
