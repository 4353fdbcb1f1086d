import type { LabelServiceService } from '@dak/contracts/mail';
import type { CallContext, Handlers } from '@dak/platform/grpc';
import { createLabel, deleteLabel, listLabels, updateLabel } from './label-catalogue';
import type { LabelDeps } from './label-deps';

export function createLabelHandlers(
  deps: LabelDeps,
): Handlers<typeof LabelServiceService, CallContext> {
  return {
    listLabels: (request, context) => listLabels(deps, request, context),
    createLabel: (request, context) => createLabel(deps, request, context),
    updateLabel: (request, context) => updateLabel(deps, request, context),
    deleteLabel: (request, context) => deleteLabel(deps, request, context),
  };
}
