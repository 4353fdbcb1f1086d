import { ReplyMail } from '@dak/contracts/api';
import type { Document, ReplyRequest } from '@dak/contracts/mail';
import { parseRequest } from '@dak/contracts/requests';
import type { CallContext } from '@dak/platform/grpc';
import { prepareReply } from './prepare-reply';
import { storedAnswer } from './stored-answer';
import type { SubmissionDeps } from './submission-deps';
import { mailRequestOf } from './submission-request';

/** Answers a conversation; resolves with the receipt once the answer is durable. */
export async function reply(
  deps: SubmissionDeps,
  message: ReplyRequest,
  context: CallContext,
): Promise<Document> {
  const { organizationId } = context.principal;
  const answered = await storedAnswer(deps.readers(organizationId), context);
  if (answered !== null) return answered;
  const request = parseRequest(ReplyMail, mailRequestOf(message));
  const prepared = await prepareReply(deps, message.conversationId, request, context);
  return deps.acceptor.accept({ ...prepared, context });
}
