import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  forgetFirstPassword,
  newFirstRunSecrets,
  SUPERADMIN_EMAIL,
  writePrivateFile,
} from '@dak/platform/deployment';
import { readFirstRunFile, type FirstRunFile } from './config';
import type { Gateway } from './service';

export interface FirstStartOptions {
  /** What to make; absent = a superadmin alone. */
  file: string | undefined;
  superadminEmail: string | undefined;
}

/**
 * Fills an empty database from the file, and always with a superadmin: who else could create the first
 * organization otherwise?
 * @returns generated secrets that cannot be read again; null if there are none
 */
export async function firstStart(
  gateway: Pick<Gateway, 'ensureFirstRun' | 'ensureSuperadmin'>,
  { file, superadminEmail }: FirstStartOptions,
): Promise<{ superadmin: { email: string; password: string } } | null> {
  const named: FirstRunFile = file === undefined ? {} : readFirstRunFile(file);
  const isMadeUp = typeof named.superadminPassword !== 'string';
  const password = named.superadminPassword ?? newFirstRunSecrets().superadminPassword!;
  const email = superadminEmail ?? (isMadeUp ? unguessableEmail() : SUPERADMIN_EMAIL);
  const { adminPassword, apiKey } = named;
  const made =
    typeof adminPassword === 'string' && typeof apiKey === 'string'
      ? await gateway.ensureFirstRun({
          superadminEmail: email,
          secrets: { adminPassword, apiKey, superadminPassword: password },
        })
      : await gateway.ensureSuperadmin({ email, password });
  return made !== null && isMadeUp ? { superadmin: { email, password } } : null;
}

/** Not a documented address, so that half of the credentials are not public. */
function unguessableEmail(): string {
  return `superadmin-${randomBytes(4).toString('hex')}@dak.example`;
}

/** A first password that was changed is taken out of the file, where that can be written. */
export function forgetInFile({ file, superadminEmail }: FirstStartOptions, email: string): void {
  if (file === undefined) return;
  const named = JSON.parse(readFileSync(file, 'utf8')) as Parameters<typeof forgetFirstPassword>[0];
  if (forgetFirstPassword(named, email, superadminEmail)) writePrivateFile(file, named);
}
