import type { SubmissionServiceService } from '@dak/contracts/mail';
import type { CallContext, Handlers } from '@dak/platform/grpc';
import { compose } from './compose';
import { forward } from './forward';
import { preview } from './preview';
import { reply } from './reply';
import type { SubmissionDeps } from './submission-deps';

export function createSubmissionHandlers(
  deps: SubmissionDeps,
): Pick<
  Handlers<typeof SubmissionServiceService, CallContext>,
  'compose' | 'reply' | 'forward' | 'preview'
> {
  return {
    compose: (request, context) => compose(deps, request, context),
    reply: (request, context) => reply(deps, request, context),
    forward: (request, context) => forward(deps, request, context),
    preview: (request, context) => preview(deps, request, context),
  };
}
