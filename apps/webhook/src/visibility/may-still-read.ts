import { seesWholeOrganization, type Role } from '@dak/kernel';
import type { Database } from '@dak/platform/postgres';
import { selectPerson } from './person-store';
import { mayStillGet, type StoredDelivery } from './scopes-of-makers';
import { readableBy, type VisibilityClient } from './readable-by';

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
  const owner = await selectPerson(database, organizationId, ownerUserId);
  if (owner === null || !owner.active) return () => false;
  const { role, department_ids: departmentIds } = owner;
  const readable = await mayReadNow(
    visibility,
    organizationId,
    { userId: ownerUserId, role, departmentIds },
    events,
  );
  return (event) => readable(event) && mayStillGet(endpoint.maker_scopes, event);
}

/** Asked again for these places; the answer must not be kept. */
export async function mayReadNow(
  visibility: VisibilityClient,
  organizationId: string,
  reader: { userId: string; role: Role; departmentIds: readonly string[] },
  places: readonly RepeatedPlace[],
): Promise<(place: RepeatedPlace) => boolean> {
  if (seesWholeOrganization(reader)) return () => true;
  const { userId, departmentIds } = reader;
  const mayRead = await readableBy(
    visibility,
    organizationId,
    places.flatMap(({ conversation_id, mailbox_id, department_id }) =>
      conversation_id === null
        ? []
        : [
            {
              conversationId: conversation_id,
              mailboxId: mailbox_id ?? '',
              departmentId: department_id ?? undefined,
              readers: [{ userId, departmentIds }],
            },
          ],
    ),
  );
  // A test has no conversation and tells nothing about anybody.
  return ({ conversation_id, trigger, needs_send }) =>
    conversation_id === null
      ? trigger === 'test'
      : mayRead(conversation_id, userId, needs_send ?? false);
}
