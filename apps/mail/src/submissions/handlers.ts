import type { SubmissionServiceService } from '@dak/contracts/mail';
import type { CallContext, Handlers } from '@dak/platform/grpc';
import { createReaders } from '../database-reader';
import { cancelOutboxEntry } from './cancel-outbox-entry';
import { compose } from './compose';
import { forward } from './forward';
import { getOutboxEntry } from './get-outbox-entry';
import { listOutbox } from './list-outbox';
import { moveOutboxEntry } from './move-outbox-entry';
import { preview } from './preview';
import { reply } from './reply';
import type { SubmissionDeps } from './submission-deps';

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
