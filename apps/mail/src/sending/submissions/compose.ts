import { ComposeMail } from '@dak/contracts/api';
import type { ComposeRequest, Document } from '@dak/contracts/mail';
import { parseRequest } from '@dak/contracts/requests';
import type { CallContext } from '@dak/platform/grpc';
import { prepareCompose } from './prepare-compose';
import { storedAnswer } from './stored-answer';
import type { SubmissionDeps } from './submission-deps';
import { mailRequestOf } from './submission-request';

/** Sends or schedules a new mail; resolves with the receipt once it is durable. */
export async function compose(
  deps: SubmissionDeps,
  message: ComposeRequest,
  context: CallContext,
): Promise<Document> {
  const request = parseRequest(ComposeMail, mailRequestOf(message));
  // Both share a round trip; what preparing comes to does not matter when the request is repeated.
  const preparing = prepareCompose(deps, request, context);
  preparing.catch(() => undefined);
  const answered = await storedAnswer(deps.readers(context.principal.organizationId), context);
  if (answered !== null) return answered;
  const { prepared, draftContent } = await preparing;
  return deps.acceptor.accept({ prepared, context, draftContent, expectedLastMessageId: null });
}
