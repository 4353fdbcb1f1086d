import type { Principal } from '@dak/kernel';
import type { PlacedItem } from './feed-item';

/** Where an event happened, as the mail service asks for it. */
export interface EventPlace {
  readonly conversationId: string;
  readonly mailboxId: string | null;
  readonly departmentId: string | null;
}

/** A regular user with the departments of now. */
export interface EventReader {
  readonly userId: string;
  readonly departmentIds: readonly string[];
}

/** Ids of readers. */
export interface PlaceReaders {
  readonly mayRead: ReadonlySet<string>;
  readonly maySend: ReadonlySet<string>;
}

/** For each place, the readers who may read it as of now, and those who may also send there. */
export type FindReaders = (
  organizationId: string,
  places: readonly EventPlace[],
  readers: readonly EventReader[],
) => Promise<readonly PlaceReaders[]>;

/** Whether a caller may read an item. */
export type ItemAccess = (item: PlacedItem, principal: Principal) => boolean;

/**
 * Who may read these items of one organization, asked at once: administrators everything, regular users
 * what the owning service says. What tells of a blind copy is for who may send there. An event without a conversation is for administrators.
 */
export async function findItemAccess(
  find: FindReaders,
  items: readonly PlacedItem[],
  principals: readonly Principal[],
): Promise<ItemAccess> {
  const readers = new Map<string, EventReader>();
  for (const principal of principals) {
    if (isAdmin(principal)) continue;
    const { userId, departmentIds } = principal;
    readers.set(userId, { userId, departmentIds });
  }
  const places = new Map<string, { place: EventPlace; index: number }>();
  for (const item of items) {
    const key = placeKey(item);
    if (item.conversationId === null || places.has(key)) continue;
    const { conversationId, mailboxId, departmentId } = item;
    places.set(key, { place: { conversationId, mailboxId, departmentId }, index: places.size });
  }
  const organizationId = items[0]?.organizationId;
  const found =
    organizationId === undefined || readers.size === 0 || places.size === 0
      ? []
      : await find(
          organizationId,
          [...places.values()].map(({ place }) => place),
          [...readers.values()],
        );
  return (item, principal) => {
    if (item.organizationId !== principal.organizationId) return false;
    const needsSend = item.needsSend === true;
    if (needsSend && !principal.scopes.includes('mail.send')) return false;
    if (isAdmin(principal)) return true;
    const place = places.get(placeKey(item));
    const readers = place === undefined ? undefined : found[place.index];
    return (needsSend ? readers?.maySend : readers?.mayRead)?.has(principal.userId) === true;
  };
}

function isAdmin({ role }: Principal): boolean {
  return role === 'admin' || role === 'superadmin';
}

function placeKey({ conversationId, mailboxId, departmentId }: PlacedItem): string {
  return `${conversationId} ${mailboxId} ${departmentId}`;
}
