import type { ListSignaturesRequest, Page } from '@dak/contracts/mail';
import type { CallContext } from '@dak/platform/grpc';
import { jsonBytes, pageOf, pageWindow } from '@dak/platform/paging';
import type { WithTenant } from '../../db/prisma-tenant';
import { SqlParameters } from '../../db/sql-parameters';
import { mailboxIsOpen } from '../visibility-store';
import { renderSignature } from './signature';

/** Those of the organization and of the mailboxes that the caller sees, in order of making. */
export async function listSignatures(
  deps: { withTenant: WithTenant; cursorKey: Uint8Array },
  request: ListSignaturesRequest,
  { principal }: CallContext,
): Promise<Page> {
  const { organizationId } = principal;
  const scope = { organizationId, list: 'signatures', filter: {} };
  const window = pageWindow(deps.cursorKey, scope, request.page);
  return deps.withTenant(organizationId, async (tx) => {
    const parameters = new SqlParameters();
    const organization = parameters.add(organizationId);
    const isOpen = mailboxIsOpen(principal, 'read', 's.mailbox_id', parameters);
    const { rows: visible } = await tx.query<{ id: string }>(
      `select s.id
         from signature s
        where s.organization_id = ${organization}::uuid and (s.mailbox_id is null or ${isOpen})`,
      parameters.values,
    );
    const after = window.after?.[0];
    const rows = await tx.db.signature.findMany({
      where: {
        organizationId,
        id: {
          in: visible.map(({ id }) => id),
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
