import { InvalidError } from '@dak/kernel';
import { ComposeMail, ReplyMail } from '@dak/contracts/api';
import type { Document, PreviewRequest } from '@dak/contracts/mail';
import { parseRequest } from '@dak/contracts/requests';
import type { CallContext } from '@dak/platform/grpc';
import { prepareCompose } from './prepare-compose';
import { prepareReply } from './prepare-reply';
import { toPreview } from './prepare-submission';
import type { SubmissionDeps } from './submission-deps';
import { mailRequestOf } from './submission-request';

/** Previews the mail and recipients of a compose or reply; nothing is stored. */
export async function preview(
  deps: SubmissionDeps,
  { kind }: PreviewRequest,
  context: CallContext,
): Promise<Document> {
  if (kind === undefined) throw new InvalidError('The preview names neither a mail nor a reply.');
  const request = mailRequestOf(kind.value);
  const { prepared } =
    kind.$case === 'compose'
      ? await prepareCompose(deps, parseRequest(ComposeMail, request), context)
      : await prepareReply(
          deps,
          kind.value.conversationId,
          parseRequest(ReplyMail, request),
          context,
        );
  const json = Buffer.from(JSON.stringify(toPreview(prepared)));
  return { id: '', version: 0, json, replayed: false };
}
