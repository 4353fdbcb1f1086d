import type { ConversationServiceService } from '@dak/contracts/mail';
import type { CallContext, Handlers } from '@dak/platform/grpc';
import type { ConversationDeps } from '../conversation-deps';
import { listConversations } from './list-conversations';
import { searchMail } from './search-mail';

export function createSearchHandlers(
  deps: ConversationDeps,
): Pick<Handlers<typeof ConversationServiceService, CallContext>, 'listConversations' | 'search'> {
  return {
    listConversations: (request, context) => listConversations(deps, request, context),
    search: (request, context) => searchMail(deps, request, context),
  };
}
