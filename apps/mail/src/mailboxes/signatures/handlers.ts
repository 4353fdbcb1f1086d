import type { Clock } from '@dak/kernel';
import type { SignatureServiceService } from '@dak/contracts/mail';
import { noteAudit } from '@dak/platform/audit';
import type { CallContext, Handlers } from '@dak/platform/grpc';
import type { MailModels } from '../../db/models';
import { createSignature } from './create-signature';
import { listSignatures } from './list-signatures';
import { requireSignature, updateSignature } from './update-signature';

export function createSignatureHandlers(deps: {
  models: MailModels;
  clock: Clock;
  cursorKey: Uint8Array;
}): Handlers<typeof SignatureServiceService, CallContext> {
  return {
    listSignatures: (request, context) => listSignatures(deps, request, context),
    createSignature: (request, context) => createSignature(deps, request, context),
    updateSignature: (request, context) => updateSignature(deps, request, context),
    async deleteSignature({ id }, context) {
      const { principal } = context;
      const { organizationId } = principal;
      await deps.models.inTenant(organizationId, async (tx) => {
        const row = await requireSignature(tx, principal, id);
        await tx.db.signature.delete({
          where: { organizationId_id: { organizationId, id: row.id } },
        });
        await noteAudit(tx, context, {
          action: 'signature.deleted',
          target: { type: 'signature', id: row.id },
          details: { name: row.name, mailbox_id: row.mailboxId },
        });
      });
      return {};
    },
  };
}
