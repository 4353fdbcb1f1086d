import type { ConversationServiceService } from '@dak/contracts/mail';
import type { CallContext, Handlers } from '@dak/platform/grpc';
import { jsonBytes } from '@dak/platform/paging';
import { changeConversation, conversationDocument } from '../change-conversation';
import type { ConversationDeps } from '../conversation-deps';
import { listActivity } from '../list-activity';
import { loadConversationRecord } from '../visible-conversation-store';
import { assignConversation } from './assign-conversation';
import { changeConversations } from './change-conversations';
import { decideLabels, decideSnooze, decideUnsnooze } from './decide-changes';
import { mergeRequested, splitRequested } from './merge-request';
import { parseLabels, parseSnooze } from './parse-changes';
import { updateConversation } from './update-conversation';

export function createConversationHandlers(
  deps: ConversationDeps,
): Pick<
  Handlers<typeof ConversationServiceService, CallContext>,
  | 'getConversation'
  | 'updateConversation'
  | 'changeLabels'
  | 'snoozeConversation'
  | 'unsnoozeConversation'
  | 'assignConversation'
  | 'mergeConversations'
  | 'splitConversation'
  | 'listActivity'
  | 'changeConversations'
> {
  return {
    getConversation: ({ id }, { principal }) =>
      deps.database.inTenant(principal.organizationId, async (tx) =>
        conversationDocument(await loadConversationRecord(tx, principal, id)),
      ),
    updateConversation: (request, context) => updateConversation(deps, request, context),
    changeLabels: async (request, context) => {
      const changes = parseLabels(request);
      return changeConversation(
        deps,
        context,
        request.id,
        (row) => decideLabels(row, changes),
        ({ id, version, labels }) => ({
          id,
          version,
          json: jsonBytes({ labels }),
          replayed: false,
        }),
      );
    },
    snoozeConversation: async (request, context) => {
      const snooze = parseSnooze(request);
      return changeConversation(deps, context, request.id, (row, now) =>
        decideSnooze(row, snooze, now),
      );
    },
    unsnoozeConversation: async (request, context) => {
      await changeConversation(deps, context, request.id, (row) => decideUnsnooze(row, null));
      return {};
    },
    assignConversation: (request, context) => assignConversation(deps, request, context),
    mergeConversations: (request, context) => mergeRequested(deps, request, context),
    splitConversation: (request, context) => splitRequested(deps, request, context),
    listActivity: (request, context) => listActivity(deps, request, context),
    changeConversations: (request, context) => changeConversations(deps, request, context),
  };
}
