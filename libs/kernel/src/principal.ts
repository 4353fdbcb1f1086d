/** The scopes of the specification, §5. `mcp.access` is needed on top by the MCP endpoint. */
export const SCOPES = [
  'api.meta',
  'mail.read',
  'mail.send',
  'mail.write',
  'mailboxes.manage',
  'agent.run',
  'analytics.read',
  'reports.read',
  'rules.manage',
  'templates.manage',
  'knowledge.manage',
  'ledger.manage',
  'webhooks.manage',
  'domains.manage',
  'departments.manage',
  'storage.read',
  'suppressions.manage',
  'brand.manage',
  'admin.manage',
  'mcp.access',
] as const;
export type Scope = (typeof SCOPES)[number];

export const ROLES = ['user', 'admin', 'superadmin'] as const;
export type Role = (typeof ROLES)[number];

export type CredentialType = 'api_key' | 'session';

/**
 * Who is calling, resolved by the gateway from live rows on every request and verified again by
 * every service. An API key is the current role and visibility of its creator, cut to its scopes.
 */
export interface Principal {
  readonly type: CredentialType;
  readonly organizationId: string;
  readonly userId: string;
  readonly userName: string;
  readonly role: Role;
  readonly scopes: readonly Scope[];
  readonly credentialId: string;
  readonly departmentIds: readonly string[];
}

/** An admin (or a superadmin inside their organization) sees every mailbox of the organization. */
export function seesWholeOrganization(principal: Pick<Principal, 'role'>): boolean {
  return principal.role !== 'user';
}
