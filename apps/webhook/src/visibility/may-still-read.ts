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

/** Where the event of a delivery happened. */
export interface RepeatedPlace {
  mailbox_id: string | null;
  department_id: string | null;
  conversation_id: string | null;
  trigger: string;
  /** Only for who may send there; null = no. */
  needs_send: boolean | null;
}

/** An event that is to be sent once more. */
export type RepeatedEvent = RepeatedPlace & StoredDelivery;

/**
 * Repeating is judged as a new event would be: by what the owner of the endpoint may read now, and by the
 * scopes of the keys that made or changed the endpoint.
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

/** Asked again for these places; the answer must not be kept. */
export async function mayReadNow(
  visibility: VisibilityClient,
  organizationId: string,
  reader: Reader & { role: Role },
  places: readonly RepeatedPlace[],
): Promise<(place: RepeatedPlace) => boolean> {
  if (seesWholeOrganization(reader)) return () => true;
  const mayRead = await findReadable(visibility, organizationId, [reader], places);
  return (place) => mayRead(place, reader.userId);
}

/** Which of these regular users may read which of the events. */
export async function findReadable(
  visibility: VisibilityClient,
  organizationId: string,
  readers: readonly Reader[],
  events: readonly RepeatedPlace[],
): Promise<(event: RepeatedPlace, userId: string) => boolean> {
  const places = events.flatMap((event) => placeOf(event) ?? []);
  const mayRead = await findAccess(visibility, organizationId, places, readers);
  return (event, userId) => {
    const place = placeOf(event);
    // What happened outside of conversations is for administrators; a test tells nothing about anybody.
    if (place === null) return event.trigger === 'test';
    return mayRead(place, userId, event.needs_send ?? false);
  };
}

function placeOf({ conversation_id, mailbox_id, department_id }: RepeatedPlace): Place | null {
  if (conversation_id === null) return null;
  return { conversationId: conversation_id, mailboxId: mailbox_id, departmentId: department_id };
}
