import type { AssignConversationRequest, Document } from '@dak/contracts/mail';
import { actorOf } from '@dak/kernel';
import type { CallContext } from '@dak/platform/grpc';
import { changeConversation } from '../change-conversation';
import type { ConversationDeps } from '../conversation-deps';
import { noteMessage } from '../messages/note-message';
import { recordMessages } from '../messages/record-messages';
import { loadConversation } from '../visible-conversation-store';
import { decideAssignment } from './decide-changes';
import { parseAssignment } from './parse-changes';

/** Assigns the conversation, with the caller's note if there is one. */
export async function assignConversation(
  deps: ConversationDeps,
  request: AssignConversationRequest,
  context: CallContext,
): Promise<Document> {
  const { principal } = context;
  const assignment = parseAssignment(request);
  const { assignee, note: text } = assignment;
  return changeConversation(deps, context, request.id, async (row, now, tx) => {
    const decision = decideAssignment(row, assignment);
    if (!text?.trim()) return decision;
    const mentions = assignee?.type === 'user' ? [assignee.id] : [];
    const note = noteMessage(row, text, mentions, actorOf(principal), now);
    await recordMessages(tx, principal.organizationId, [note], now);
    // The note has moved version and counts on.
    const current = await loadConversation(tx, principal, row.id, 'write', { lock: true });
    return { ...decideAssignment(current, assignment), before: current };
  });
}
