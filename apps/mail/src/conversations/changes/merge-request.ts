import { MergeConversations, SplitConversation } from '@dak/contracts/api';
import type {
  Document,
  MergeConversationsRequest,
  SplitConversationRequest,
} from '@dak/contracts/mail';
import { parseRequest, requestOf } from '@dak/contracts/requests';
import { actorOf, ConflictError, InvalidError, uuidv7 } from '@dak/kernel';
import type { CallContext } from '@dak/platform/grpc';
import { idempotent } from '@dak/platform/idempotency';
import { conversationDocument } from '../change-conversation';
import type { ConversationDeps } from '../conversation-deps';
import type { ConversationRow } from '../conversation-row';
import { allocateConversationNumbers } from '../conversation-store';
import { requireDepartmentAccess } from '../department-access';
import { mergeConversations } from '../merge-conversations';
import { splitConversation } from '../split-conversation';
import { loadConversation } from '../visible-conversation-store';

/** Merges the sources and the conversation into the oldest of them, which is the answer. */
export async function mergeRequested(
  { database, clock }: ConversationDeps,
  request: MergeConversationsRequest,
  context: CallContext,
): Promise<Document> {
  const { principal } = context;
  const { source_ids: sources } = parseRequest(MergeConversations, requestOf(request));
  const ids = [...new Set([request.id, ...sources])];
  if (ids.length === 1) throw new InvalidError('source_ids must name other conversations.');
  return database.inTenant(principal.organizationId, (tx) =>
    idempotent(tx, context, async () => {
      const rows: ConversationRow[] = [];
      for (const id of [...ids].sort()) {
        const row = await loadConversation(tx, principal, id, 'write', { lock: true });
        rows.push(row);
        if (row.open_approval_id !== null) {
          throw new ConflictError(
            `Conversation ${row.id} has an open approval: decide it before merging.`,
            'approval_open',
          );
        }
      }
      // One department answers for all of the mail then.
      for (const row of rows) {
        const other = rows.find(({ department_id }) => department_id !== row.department_id);
        await requireDepartmentAccess(tx, principal, row, other ?? row);
      }
      const kept = await mergeConversations(
        tx,
        principal.organizationId,
        ids,
        actorOf(principal),
        'requested',
        clock(),
      );
      return conversationDocument(kept);
    }),
  );
}

/** Moves messages into a new conversation, which is the answer. */
export async function splitRequested(
  { database, clock }: ConversationDeps,
  request: SplitConversationRequest,
  context: CallContext,
): Promise<Document> {
  const { principal } = context;
  const { organizationId } = principal;
  const { message_ids: messageIds } = parseRequest(SplitConversation, requestOf(request));
  const [newNumber] = await allocateConversationNumbers(database, organizationId, 1);
  return database.inTenant(organizationId, (tx) =>
    idempotent(tx, context, async () => {
      const row = await loadConversation(tx, principal, request.id, 'write', { lock: true });
      const now = clock();
      const part = await splitConversation(
        tx,
        organizationId,
        {
          conversationId: row.id,
          messageIds,
          newConversationId: uuidv7(now),
          newNumber: newNumber!,
        },
        actorOf(principal),
        now,
      );
      return conversationDocument(part);
    }),
  );
}
