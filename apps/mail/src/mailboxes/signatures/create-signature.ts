import { InvalidError, uuidv7, type Clock } from '@dak/kernel';
import { CreateSignature } from '@dak/contracts/api';
import type { CreateSignatureRequest, Document } from '@dak/contracts/mail';
import { parseRequest, requestOf } from '@dak/contracts/requests';
import { noteAudit } from '@dak/platform/audit';
import type { CallContext } from '@dak/platform/grpc';
import { idempotent } from '@dak/platform/idempotency';
import { jsonBytes } from '@dak/platform/paging';
import type { MailTransaction, MailModels } from '../../db/models';
import type { Signature } from '../../generated/prisma/client';
import { renderSignature, safeSignatureHtml } from './signature';
import { requireSignatureAccess } from './signature-access';

export function createSignature(
  deps: { models: MailModels; clock: Clock },
  request: CreateSignatureRequest,
  context: CallContext,
): Promise<Document> {
  const { principal } = context;
  const { organizationId } = principal;
  const sent = parseRequest(CreateSignature, requestOf(request));
  const { name, body_text: bodyText, mailbox_id: mailboxId, is_default: isDefault } = sent;
  const bodyHtml = safeSignatureHtml(sent.body_html);
  if (bodyHtml === '' && bodyText === '') {
    throw new InvalidError('body_text and body_html are both empty. Give at least one.');
  }
  return deps.models.inTenant(organizationId, (tx) =>
    idempotent(tx, context, async () => {
      await requireSignatureAccess(tx, principal, mailboxId);
      if (isDefault) await clearDefault(tx, organizationId, mailboxId);
      const at = new Date(deps.clock());
      const row = await tx.db.signature.create({
        data: {
          name,
          bodyHtml,
          bodyText,
          organizationId,
          id: uuidv7(),
          mailboxId,
          isDefault,
          createdAt: at,
          updatedAt: at,
        },
      });
      await noteAudit(tx, context, {
        action: 'signature.created',
        target: { type: 'signature', id: row.id },
        details: { name: row.name, mailbox_id: mailboxId },
      });
      return signatureDocument(row);
    }),
  );
}

/** There is one default per mailbox and one for the organization: the new one takes over. */
export async function clearDefault(
  tx: MailTransaction,
  organizationId: string,
  mailboxId: string | null,
): Promise<void> {
  await tx.db.signature.updateMany({
    where: { organizationId, mailboxId, isDefault: true },
    data: { isDefault: false },
  });
}

export function signatureDocument(row: Signature): Document {
  return { id: row.id, version: 0, json: jsonBytes(renderSignature(row)), replayed: false };
}
