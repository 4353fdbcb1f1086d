import { InvalidError } from '@dak/kernel';
import type { Document, PreviewRequest } from '@dak/contracts/mail';
import type { CallContext } from '@dak/platform/grpc';
import { prepareCompose } from './prepare-compose';
import { prepareReply } from './prepare-reply';
import { toPreview } from './prepare-submission';
import type { SubmissionDeps } from './submission-deps';

/** What a compose or reply would send, and to whom; nothing is stored. */
export async function preview(
  deps: SubmissionDeps,
  request: PreviewRequest,
  context: CallContext,
): Promise<Document> {
  const { kind } = request;
  if (kind === undefined) throw new InvalidError('The preview names neither a mail nor a reply.');
  const { prepared } =
    kind.$case === 'compose'
      ? await prepareCompose(deps, kind.value, context)
      : await prepareReply(deps, kind.value, context);
  const json = Buffer.from(JSON.stringify(toPreview(prepared)));
  return { id: '', version: 0, json, replayed: false };
}
