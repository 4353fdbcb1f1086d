import type { SubmissionServiceService } from '@dak/contracts/mail';
import type { CallContext, Handlers } from '@dak/platform/grpc';
import type { SubmissionDeps } from '../submissions/submission-deps';
import { cancelOutboxEntry } from './cancel-outbox-entry';
import { getOutboxEntry } from './get-outbox-entry';
import { listOutbox } from './list-outbox';
import { moveOutboxEntry } from './move-outbox-entry';

export function createOutboxHandlers(
  deps: SubmissionDeps & { cursorKey: Uint8Array; onAccepted: () => void },
): Pick<
  Handlers<typeof SubmissionServiceService, CallContext>,
  'listOutbox' | 'getOutboxEntry' | 'moveOutboxEntry' | 'cancelOutboxEntry'
> {
  return {
    listOutbox: (request, context) => listOutbox(deps, request, context),
    getOutboxEntry: (request, context) => getOutboxEntry(deps, request, context),
    moveOutboxEntry: (request, context) => moveOutboxEntry(deps, request, context),
    cancelOutboxEntry: (request, context) => cancelOutboxEntry(deps, request, context),
  };
}
