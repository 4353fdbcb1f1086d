import { SCOPES } from '@dak/kernel';
import { effectiveScopes, scopesOfRole } from './role-scopes';

describe('the scopes of a role', () => {
  it('are all for admins, and for users all but what concerns the whole organization', () => {
    expect(scopesOfRole('admin')).toEqual(SCOPES);
    expect(scopesOfRole('superadmin')).toEqual(SCOPES);
    const users = scopesOfRole('user');
    expect(SCOPES.filter((scope) => !users.includes(scope)).sort()).toEqual([
      ...['admin.manage', 'brand.manage', 'departments.manage', 'domains.manage'],
      ...['mailboxes.manage', 'suppressions.manage'],
    ]);
  });

  it('cut a key down to what its creator still has, whatever is stored with it', () => {
    const stored = ['mail.send', 'admin.manage', 'mail.read', 'gone.scope'];
    expect(effectiveScopes('user', stored)).toEqual(['mail.read', 'mail.send']);
    expect(effectiveScopes('admin', stored)).toContain('admin.manage');
    expect(effectiveScopes('admin', [])).toEqual([]);
  });
});
