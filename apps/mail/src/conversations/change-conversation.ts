import type { Document } from '@dak/contracts/mail';
import { actorOf } from '@dak/kernel';
import type { Transaction } from '@dak/platform/postgres';
import type { CallContext } from '@dak/platform/grpc';
import { idempotent } from '@dak/platform/idempotency';
import type { ActivityEntry } from './activity-store';
import type { ConversationDeps } from './conversation-deps';
import type { ConversationRow } from './conversation-row';
import { requireDepartmentAccess } from './department-access';
import { requireMayRelease } from './legal-hold';
import { renderConversation } from './render-conversation';
import { saveConversations } from './save-conversations';
import { loadConversation } from './visible-conversation-store';

/** A decided change of a conversation, not yet stored. */
export interface Decision {
  /** What `after` is compared with, when deciding has itself stored a change. @default the row as loaded */
  before?: ConversationRow;
  after: ConversationRow;
  activity: readonly ActivityEntry[];
  /** Why, in `conversation.updated`. */
  reason: string;
}

/** Loads, locks, decides and stores one conversation with its activity and event; a POST may be repeated by its key. */
export function changeConversation(
  { database, clock }: Pick<ConversationDeps, 'database' | 'clock'>,
  context: CallContext,
  id: string,
  decide: (row: ConversationRow, now: number, tx: Transaction) => Decision | Promise<Decision>,
  render: (row: ConversationRow) => Document = conversationDocument,
): Promise<Document> {
  const { principal } = context;
  return database.inTenant(principal.organizationId, (tx) =>
    idempotent(tx, context, async () => {
      const row = await loadConversation(tx, principal, id, 'write', { lock: true });
      const now = clock();
      const { before = row, after, activity, reason } = await decide(row, now, tx);
      await requireDepartmentAccess(tx, principal, before, after);
      requireMayRelease(principal, before.labels, after.labels);
      const [saved] = await saveConversations(
        tx,
        principal.organizationId,
        [{ before, after, activity, reason, actor: actorOf(principal) }],
        now,
      );
      return render(saved!);
    }),
  );
}

export function conversationDocument(row: ConversationRow): Document {
  return { id: row.id, version: row.version, json: renderConversation(row), replayed: false };
}
