import type { Document, ReplyRequest } from '@dak/contracts/mail';
import type { CallContext } from '@dak/platform/grpc';
import { prepareReply } from './prepare-reply';
import { storedAnswer } from './stored-answer';
import type { SubmissionDeps } from './submission-deps';

/** Answers a conversation; resolves with the receipt once the answer is durable. */
export async function reply(
  deps: SubmissionDeps,
  request: ReplyRequest,
  context: CallContext,
): Promise<Document> {
  const { organizationId } = context.principal;
  const answered = await storedAnswer(deps.readers(organizationId), context);
  if (answered !== null) return answered;
  const prepared = await prepareReply(deps, request, context);
  return deps.acceptor.accept({ ...prepared, context });
}
