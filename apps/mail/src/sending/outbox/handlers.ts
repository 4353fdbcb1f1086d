import type { SubmissionServiceService } from '@dak/contracts/mail';
import type { CallContext, Handlers } from '@dak/platform/grpc';
import { createReaders } from '../../db/database-reader';
import { compose } from '../submissions/compose';
import { forward } from '../submissions/forward';
import { preview } from '../submissions/preview';
import { reply } from '../submissions/reply';
import type { SubmissionDeps } from '../submissions/submission-deps';
import { cancelOutboxEntry } from './cancel-outbox-entry';
import { getOutboxEntry } from './get-outbox-entry';
import { listOutbox } from './list-outbox';
import { moveOutboxEntry } from './move-outbox-entry';

export function createSubmissionHandlers(
  parts: Omit<SubmissionDeps, 'readers'> & { cursorKey: Uint8Array; onAccepted: () => void },
): Handlers<typeof SubmissionServiceService, CallContext> {
  const deps = { ...parts, readers: createReaders(parts.database) };
  return {
    compose: (request, context) => compose(deps, request, context),
    reply: (request, context) => reply(deps, request, context),
    forward: (request, context) => forward(deps, request, context),
    preview: (request, context) => preview(deps, request, context),
    listOutbox: (request, context) => listOutbox(deps, request, context),
    getOutboxEntry: (request, context) => getOutboxEntry(deps, request, context),
    moveOutboxEntry: (request, context) => moveOutboxEntry(deps, request, context),
    cancelOutboxEntry: (request, context) => cancelOutboxEntry(deps, request, context),
  };
}
