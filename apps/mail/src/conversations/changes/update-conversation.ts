import type { Document, UpdateConversationRequest } from '@dak/contracts/mail';
import { InvalidError } from '@dak/kernel';
import type { CallContext } from '@dak/platform/grpc';
import { changeConversation } from '../change-conversation';
import type { ConversationDeps } from '../conversation-deps';
import { decideUpdate } from './decide-update';
import { markRead } from './mark-read';

/** Changes the fields that the caller sent; all or none. */
export function updateConversation(
  deps: ConversationDeps,
  request: UpdateConversationRequest,
  context: CallContext,
): Promise<Document> {
  return changeConversation(deps, context, request.id, async (row, now, tx) => {
    const decision = decideUpdate(row, request, now);
    if (!request.fields.includes('unread')) return decision;
    if (request.unread === undefined) throw new InvalidError('unread must be true or false.');
    const { organizationId } = context.principal;
    const after = await markRead(tx, organizationId, decision.after, request.unread);
    return { ...decision, after };
  });
}
