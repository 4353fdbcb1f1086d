import { randomBytes } from 'node:crypto';
import { newApiKey } from '@dak/kernel';

/** What the first start of a deployment makes up; a caller that stores it before the run cannot lose it. */
export interface FirstRunSecrets {
  /** Null once the person has another one. */
  adminPassword: string | null;
  superadminPassword: string | null;
  /** API key of the demo organization's admin, with all scopes. */
  apiKey: string;
}

export function newFirstRunSecrets(): FirstRunSecrets {
  const password = (): string => randomBytes(15).toString('base64url');
  return { adminPassword: password(), superadminPassword: password(), apiKey: newApiKey() };
}
