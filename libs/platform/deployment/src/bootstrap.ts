import { DomainError } from '@dak/kernel';
import type { DataFolder } from './data-folder';
import { ADMIN_EMAIL, SUPERADMIN_EMAIL } from './first-passwords';
import type { FirstRunSecrets } from './first-run-secrets';
import { localRequest } from './local-request';
import type { SiteAddresses } from './site-addresses';

/** Contents of `<data folder>/bootstrap.json`: addresses of this run, and credentials from the first run. */
export interface Bootstrap {
  base_url: string;
  site_url: string;
  /** Metrics of the process or, in a distributed run, of the first gateway. */
  metrics_url?: string;
  smtp: { host: string; port: number };
  lmtp: { host: string; port: number };
  organization_id: string;
  /** The password is null once it was changed. */
  admin: { email: string; password: string | null };
  superadmin: { email: string; password: string | null };
  api_key: string;
  mailboxes: { id: string; address: string }[];
}

export type MailAddresses = Pick<Bootstrap, 'smtp' | 'lmtp'>;

const DEMO_MAILBOXES = [
  { address: 'support@dak.example', display_name: 'Dak Support', client_id: 'demo-support' },
  { address: 'sales@dak.example', display_name: 'Dak Sales', client_id: 'demo-sales' },
];

/**
 * What `bootstrap.json` has to tell, asked of the running API; the first start also makes the demo
 * mailboxes.
 */
export async function createBootstrap(
  data: DataFolder,
  { local, site, certificateFile }: SiteAddresses,
  mail: MailAddresses,
  superadminEmail: string = SUPERADMIN_EMAIL,
): Promise<Bootstrap> {
  const { firstRun } = data.secrets;
  const client = new BootstrapClient(`${local}/api/v1`, firstRun.apiKey, certificateFile);
  const isFirstRun = data.secrets.organizationId === null;
  const organizationId = (await client.organizationId()) ?? data.secrets.organizationId ?? '';
  if (isFirstRun) {
    await client.createDemoMailboxes();
    data.secrets.organizationId = organizationId;
    data.save();
  }
  return {
    base_url: `${site}/api/v1`,
    site_url: site,
    ...mail,
    organization_id: organizationId,
    admin: { email: ADMIN_EMAIL, password: firstRun.adminPassword },
    superadmin: { email: superadminEmail, password: firstRun.superadminPassword },
    api_key: firstRun.apiKey,
    mailboxes: await client.mailboxes(),
  };
}

/** As they are now: a changed one is gone. */
export function withFirstPasswords<B extends Pick<Bootstrap, 'admin' | 'superadmin'>>(
  bootstrap: B,
  { adminPassword, superadminPassword }: FirstRunSecrets,
): B {
  return {
    ...bootstrap,
    admin: { ...bootstrap.admin, password: adminPassword },
    superadmin: { ...bootstrap.superadmin, password: superadminPassword },
  };
}

/** The few calls that a first start makes, as an ordinary client of the API. */
class BootstrapClient {
  constructor(
    private readonly baseUrl: string,
    private readonly apiKey: string,
    private readonly certificateFile: string | null,
  ) {}

  /** Null when the first key has been revoked since. */
  async organizationId(): Promise<string | null> {
    const index = await this.call('GET', '/');
    return index === null
      ? null
      : (index as { principal: { organization_id: string } }).principal.organization_id;
  }

  async createDemoMailboxes(): Promise<void> {
    for (const mailbox of DEMO_MAILBOXES) await this.call('POST', '/mailboxes', mailbox);
  }

  async mailboxes(): Promise<{ id: string; address: string }[]> {
    const page = await this.call('GET', '/mailboxes?per_page=100');
    if (page === null) return [];
    const { data } = page as { data: { id: string; address: string }[] };
    return data.map(({ id, address }) => ({ id, address }));
  }

  private async call(method: string, path: string, body?: unknown): Promise<unknown> {
    const headers: Record<string, string> = { authorization: `Bearer ${this.apiKey}` };
    const content = body === undefined ? undefined : JSON.stringify(body);
    if (content !== undefined) {
      headers['content-type'] = 'application/json';
      headers['content-length'] = String(Buffer.byteLength(content));
    }
    const { status, text } = await localRequest(
      `${this.baseUrl}${path}`,
      { method, headers, ...(content === undefined ? {} : { body: content }) },
      this.certificateFile,
    );
    if (status === 401) return null;
    const answer: unknown = JSON.parse(text);
    if (status >= 300) {
      const { error } = answer as { error: string };
      throw new DomainError('internal', 'first_run_failed', `${method} ${path}: ${error}`);
    }
    return answer;
  }
}
