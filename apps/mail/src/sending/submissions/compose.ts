import type { ComposeRequest, Document } from '@dak/contracts/mail';
import type { CallContext } from '@dak/platform/grpc';
import { prepareCompose } from './prepare-compose';
import { storedAnswer } from './stored-answer';
import type { SubmissionDeps } from './submission-deps';

/** Sends or schedules a new mail; resolves with the receipt once it is durable. */
export async function compose(
  deps: SubmissionDeps,
  request: ComposeRequest,
  context: CallContext,
): Promise<Document> {
  // Both share a round trip; for a repeat it does not matter what preparing the mail anew comes to.
  const preparing = prepareCompose(deps, request, context);
  preparing.catch(() => undefined);
  const answered = await storedAnswer(deps.readers(context.principal.organizationId), context);
  if (answered !== null) return answered;
  const { prepared, draftContent } = await preparing;
  return deps.acceptor.accept({ prepared, context, draftContent, expectedLastMessageId: null });
}
