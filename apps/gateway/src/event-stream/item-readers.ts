import { seesWholeOrganization, type Principal } from '@dak/kernel';
import { findAccess, type Place, type VisibilityClient } from '@dak/platform/visibility';
import type { PlacedItem } from './feed-item';

/** Whether a caller may read an item. */
export type ItemAccess = (item: PlacedItem, principal: Principal) => boolean;

/**
 * Who may read these items of one organization, in one query: administrators everything, regular users
 * what the owning service permits. Events that reveal a blind copy are for users who may send there, events without a conversation for administrators.
 */
export async function findItemAccess(
  visibility: VisibilityClient,
  items: readonly PlacedItem[],
  principals: readonly Principal[],
): Promise<ItemAccess> {
  const organizationId = items[0]?.organizationId ?? '';
  const mayRead = await findAccess(
    visibility,
    organizationId,
    items.flatMap((item) => (isPlace(item) ? [item] : [])),
    principals.filter((principal) => !seesWholeOrganization(principal)),
  );
  return (item, principal) => {
    if (item.organizationId !== principal.organizationId) return false;
    const needsSend = item.needsSend === true;
    if (needsSend && !principal.scopes.includes('mail.send')) return false;
    if (seesWholeOrganization(principal)) return true;
    return isPlace(item) && mayRead(item, principal.userId, needsSend);
  };
}

function isPlace(item: PlacedItem): item is PlacedItem & Place {
  return item.conversationId !== null;
}
