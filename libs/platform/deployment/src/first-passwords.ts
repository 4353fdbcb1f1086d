import type { FirstRunSecrets } from './first-run-secrets';

export const ADMIN_EMAIL = 'admin@dak.example';
export const SUPERADMIN_EMAIL = 'superadmin@dak.example';

/**
 * Takes a first password out that was changed since: it opens nothing and must not lie about.
 * @returns false when none of them belonged to the address
 */
export function forgetFirstPassword(
  secrets: Pick<FirstRunSecrets, 'adminPassword' | 'superadminPassword'>,
  email: string,
  superadminEmail: string = SUPERADMIN_EMAIL,
): boolean {
  const name =
    email === superadminEmail
      ? 'superadminPassword'
      : email === ADMIN_EMAIL
        ? 'adminPassword'
        : null;
  if (name === null || secrets[name] === null) return false;
  secrets[name] = null;
  return true;
}
