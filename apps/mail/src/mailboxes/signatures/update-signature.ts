import { isUuid, NotFoundError, type Clock, type Principal } from '@dak/kernel';
import { UpdateSignature } from '@dak/contracts/api';
import type { Document, UpdateSignatureRequest } from '@dak/contracts/mail';
import { parseRequest, requestOf } from '@dak/contracts/requests';
import { noteAudit } from '@dak/platform/audit';
import type { CallContext } from '@dak/platform/grpc';
import type { MailTransaction, MailModels } from '../../db/models';
import type { Signature } from '../../generated/prisma/client';
import { clearDefault, signatureDocument } from './create-signature';
import { safeSignatureHtml } from './signature';
import { requireSignatureAccess } from './signature-access';

export function updateSignature(
  deps: { models: MailModels; clock: Clock },
  request: UpdateSignatureRequest,
  context: CallContext,
): Promise<Document> {
  const { principal } = context;
  const { organizationId } = principal;
  const data = changesOf(request);
  return deps.models.inTenant(organizationId, async (tx) => {
    const row = await requireSignature(tx, principal, request.id);
    const mailboxId = data.mailboxId === undefined ? row.mailboxId : data.mailboxId;
    if (mailboxId !== row.mailboxId) await requireSignatureAccess(tx, principal, mailboxId);
    if (data.isDefault ?? row.isDefault) await clearDefault(tx, organizationId, mailboxId);
    const updated = await tx.db.signature.update({
      where: { organizationId_id: { organizationId, id: row.id } },
      data: {
        ...data,
        isDefault: data.isDefault ?? row.isDefault,
        updatedAt: new Date(deps.clock()),
      },
    });
    await noteAudit(tx, context, {
      action: 'signature.updated',
      target: { type: 'signature', id: row.id },
      details: { name: updated.name, mailbox_id: mailboxId, fields: request.fields },
    });
    return signatureDocument(updated);
  });
}

/** The signature, if the caller may change it. @throws NotFoundError, ForbiddenError */
export async function requireSignature(
  tx: MailTransaction,
  principal: Principal,
  id: string,
): Promise<Signature> {
  if (!isUuid(id)) throw new NotFoundError('signature');
  const { organizationId } = principal;
  const row = await tx.db.signature.findUnique({
    where: { organizationId_id: { organizationId, id } },
  });
  if (row === null) throw new NotFoundError('signature');
  try {
    await requireSignatureAccess(tx, principal, row.mailboxId);
  } catch (error) {
    throw error instanceof NotFoundError ? new NotFoundError('signature') : error;
  }
  return row;
}

function changesOf({ fields, ...message }: UpdateSignatureRequest) {
  const sent = parseRequest(UpdateSignature, requestOf(message, fields));
  const {
    name,
    body_html,
    body_text: bodyText,
    mailbox_id: mailboxId,
    is_default: isDefault,
  } = sent;
  const bodyHtml = body_html === undefined ? undefined : safeSignatureHtml(body_html);
  return { name, bodyHtml, bodyText, mailboxId, isDefault };
}
