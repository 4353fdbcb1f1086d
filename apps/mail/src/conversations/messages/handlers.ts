import type { ConversationServiceService } from '@dak/contracts/mail';
import type { CallContext, Handlers } from '@dak/platform/grpc';
import type { ConversationDeps } from '../conversation-deps';
import { addNote } from './add-note';
import { getMessage, getRawMessage } from './get-message';
import { listMessages } from './list-messages';

export function createMessageHandlers(
  deps: ConversationDeps,
): Pick<
  Handlers<typeof ConversationServiceService, CallContext>,
  'addNote' | 'listMessages' | 'getMessage' | 'getRawMessage'
> {
  return {
    addNote: (request, context) => addNote(deps, request, context),
    listMessages: (request, context) => listMessages(deps, request, context),
    getMessage: (request, context) => getMessage(deps, request, context),
    getRawMessage: (request, context) => getRawMessage(deps, request, context),
  };
}
