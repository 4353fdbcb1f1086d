import type { FindReadersReply, FindReadersRequest } from '@dak/contracts/mail';
import { InvalidError, isUuid } from '@dak/kernel';
import type { Database } from '@dak/platform/postgres';
import { selectReaders } from './reader-store';

/** Places, and likewise readers, in one request. */
const LIMIT = 5_000;

/**
 * Which regular users may read what happened where, by the rules of the list of conversations: asked for each
 * event that goes to people, so an assignment that ends holds from the next event on.
 * @throws InvalidError when an id is malformed or too much is asked at once
 */
export async function findReaders(
  database: Database,
  request: FindReadersRequest,
): Promise<FindReadersReply> {
  const { organizationId } = request;
  if (!isUuid(organizationId)) throw new InvalidError('organization_id must be a UUID.');
  if (request.places.length > LIMIT || request.readers.length > LIMIT) {
    throw new InvalidError(`places and readers may have at most ${LIMIT} entries each.`);
  }
  if (request.places.length === 0 || request.readers.length === 0) {
    return { places: request.places.map(() => ({ userIds: [], senderIds: [] })) };
  }
  const places = request.places.map((place) => ({
    conversationId: uuidOrNull('places.conversation_id', place.conversationId),
    mailboxId: uuidOrNull('places.mailbox_id', place.mailboxId),
    departmentId: uuidOrNull('places.department_id', place.departmentId ?? ''),
  }));
  const readers = request.readers.map((reader) => ({
    user_id: uuid('readers.user_id', reader.userId),
    department_ids: reader.departmentIds.map((id) => uuid('readers.department_ids', id)),
  }));
  const found = await database.inTenant(organizationId, (tx) =>
    selectReaders(tx, organizationId, places, readers),
  );
  return { places: places.map((_, index) => found.get(index) ?? { userIds: [], senderIds: [] }) };
}

function uuid(field: string, text: string): string {
  if (!isUuid(text)) throw new InvalidError(`${field} must be a UUID.`);
  return text;
}

function uuidOrNull(field: string, text: string): string | null {
  return text === '' ? null : uuid(field, text);
}
