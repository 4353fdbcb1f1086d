import type { ListSignaturesRequest, Page } from '@dak/contracts/mail';
import type { CallContext } from '@dak/platform/grpc';
import { listPage } from '@dak/platform/paging';
import type { MailModels } from '../../db/models';
import { renderSignature } from './signature';
import { selectVisibleSignatures } from './signature-store';

/** Those of the organization and of the mailboxes that the caller sees, in order of making. */
export function listSignatures(
  { models, cursorKey }: { models: MailModels; cursorKey: Uint8Array },
  request: ListSignaturesRequest,
  { principal }: CallContext,
): Promise<Page> {
  const { organizationId } = principal;
  return listPage(cursorKey, request.page, {
    scope: { organizationId, list: 'signatures', filter: {} },
    select: ({ limit, offset, after }) =>
      models.inTenant(organizationId, async (tx) => {
        const visible = await selectVisibleSignatures(tx, principal);
        const rows = await tx.db.signature.findMany({
          where: {
            organizationId,
            id: { in: visible, ...(after && { gt: String(after[0]) }) },
          },
          orderBy: { id: 'asc' },
          skip: offset,
          take: limit,
        });
        return { rows, total: visible.length };
      }),
    recordOf: renderSignature,
    positionOf: ({ id }) => [id],
  });
}
