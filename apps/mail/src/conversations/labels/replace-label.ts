import type { Actor } from '@dak/kernel';
import { lockConversations } from '../conversation-store';
import { saveConversations, type ConversationChange } from '../save-conversations';
import type { LabelDeps } from './label-deps';
import { selectLabeled } from './label-store';

const BATCH = 200;

/**
 * Renames a label on every conversation, or takes it away with `next` null. In transactions of
 * {@link BATCH}: each change has its activity and event, and no lock is held for long. Interrupted, it
 * is finished by repeating the request.
 */
export async function replaceLabel(
  { database, clock }: Pick<LabelDeps, 'database' | 'clock'>,
  organizationId: string,
  name: string,
  next: string | null,
  actor: Actor,
): Promise<void> {
  for (;;) {
    const count = await database.inTenant(organizationId, async (tx) => {
      const labeled = await selectLabeled(tx, organizationId, name, BATCH);
      const locked = await lockConversations(tx, organizationId, labeled);
      const changes = locked.map(({ mailbox_address: _, ...before }): ConversationChange => {
        const others = before.labels.filter((label) => label !== name && label !== next);
        const labels = next === null ? others : [...others, next];
        return {
          before,
          after: { ...before, labels },
          reason: 'labels_changed',
          actor,
          activity: [
            {
              type: 'labels_changed',
              before: before.labels,
              after: labels,
              reason: 'label_renamed',
            },
          ],
        };
      });
      await saveConversations(tx, organizationId, changes, clock());
      return labeled.length;
    });
    if (count < BATCH) return;
  }
}
