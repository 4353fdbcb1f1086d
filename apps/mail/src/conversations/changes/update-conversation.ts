import type { Document, UpdateConversationRequest } from '@dak/contracts/mail';
import { VersionMismatchError } from '@dak/kernel';
import type { CallContext } from '@dak/platform/grpc';
import { changeConversation } from '../change-conversation';
import type { ConversationDeps } from '../conversation-deps';
import { decideUpdate } from './decide-update';
import { markRead } from './mark-read';
import { parseUpdate } from './parse-changes';

/** Changes the fields that the caller sent; all or none. @throws VersionMismatchError */
export async function updateConversation(
  deps: ConversationDeps,
  request: UpdateConversationRequest,
  context: CallContext,
): Promise<Document> {
  const { expectedVersion } = request;
  const changes = parseUpdate(request);
  return changeConversation(deps, context, request.id, async (row, now, tx) => {
    if (expectedVersion !== undefined && expectedVersion !== row.version) {
      throw new VersionMismatchError('conversation', row.version);
    }
    const decision = decideUpdate(row, changes, now);
    if (changes.unread === undefined) return decision;
    const { organizationId } = context.principal;
    const after = await markRead(tx, organizationId, decision.after, changes.unread);
    return { ...decision, after };
  });
}
