import { ConflictError } from '@dak/kernel';
import { ComposeMail, ReplyMail } from '@dak/contracts/api';
import type { Document, SendDraftRequest } from '@dak/contracts/mail';
import { parseRequest } from '@dak/contracts/requests';
import type { CallContext } from '@dak/platform/grpc';
import { prepareCompose } from '../submissions/prepare-compose';
import { prepareReply } from '../submissions/prepare-reply';
import { storedAnswer } from '../submissions/stored-answer';
import type { SubmissionDeps } from '../submissions/submission-deps';
import { requestOfDraft } from './draft-fields';
import { deleteDraftRow } from './draft-store';
import { loadDraft } from './visible-draft-store';

/**
 * Sends the draft as it is now; it is gone once the mail is accepted, in one transaction. Needs `send`.
 * @throws ConflictError `draft_changed` when it was changed or sent concurrently
 */
export async function sendDraft(
  deps: SubmissionDeps,
  request: SendDraftRequest,
  context: CallContext,
): Promise<Document> {
  const { principal } = context;
  const { organizationId } = principal;
  const reader = deps.readers(organizationId);
  const answered = await storedAnswer(reader, context);
  if (answered !== null) return answered;
  const row = await loadDraft(reader, principal, request.id, 'send', {
    expectedVersion: request.expectedVersion,
  });
  const mail = requestOfDraft(row);
  const prepared =
    row.kind === 'compose'
      ? await prepareCompose(deps, parseRequest(ComposeMail, mail), context, row.id)
      : await prepareReply(
          deps,
          row.conversation_id ?? '',
          parseRequest(ReplyMail, mail),
          context,
          row.id,
        );
  return deps.acceptor.accept({
    expectedLastMessageId: null,
    ...prepared,
    context,
    andThen: async (tx) => {
      if (await deleteDraftRow(tx, organizationId, row)) return;
      throw new ConflictError(
        'The draft was changed or sent by somebody else at the same time. Read it again.',
        'draft_changed',
      );
    },
  });
}
