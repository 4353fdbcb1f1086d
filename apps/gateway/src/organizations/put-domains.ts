import type { RouteReply } from '../http/route';
import type { IdentityCaller } from '../identity/identity-caller';
import type { IdentityParts } from '../identity/identity-parts';
import { getAnyOrganization } from './list-organizations';

/** Sets the domains an organization owns; the mail service stores them, in its own transaction. */
export async function putOrganizationDomains(
  parts: IdentityParts,
  caller: IdentityCaller,
  organizationId: string,
  names: readonly string[],
): Promise<RouteReply> {
  const { id } = await getAnyOrganization(parts, caller.principal, organizationId);
  const domains = await parts.putDomains(id, names, caller);
  return { status: 200, body: { organization_id: id, domains } };
}
