import type { ListSignaturesRequest, Page } from '@dak/contracts/mail';
import type { CallContext } from '@dak/platform/grpc';
import { jsonBytes, pageOf, pageWindow } from '@dak/platform/paging';
import type { MailModels } from '../../db/models';
import { renderSignature } from './signature';
import { selectVisibleSignatures } from './signature-store';

/** Those of the organization and of the mailboxes that the caller sees, in order of making. */
export async function listSignatures(
  deps: { models: MailModels; cursorKey: Uint8Array },
  request: ListSignaturesRequest,
  { principal }: CallContext,
): Promise<Page> {
  const { organizationId } = principal;
  const scope = { organizationId, list: 'signatures', filter: {} };
  const window = pageWindow(deps.cursorKey, scope, request.page);
  return deps.models.inTenant(organizationId, async (tx) => {
    const visible = await selectVisibleSignatures(tx, principal);
    const after = window.after?.[0];
    const rows = await tx.db.signature.findMany({
      where: {
        organizationId,
        id: {
          in: visible,
          ...(typeof after === 'string' ? { gt: after } : {}),
        },
      },
      orderBy: { id: 'asc' },
      skip: window.offset,
      take: window.perPage + 1,
    });
    return pageOf(
      deps.cursorKey,
      scope,
      window,
      rows,
      { count: visible.length, isEstimate: false },
      (shown) => jsonBytes(shown.map(renderSignature)),
      (row) => [row.id],
    );
  });
}
