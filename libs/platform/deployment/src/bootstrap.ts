import { DomainError } from '@dak/kernel';
import type { DataFolder } from './data-folder';
import type { SiteAddresses } from './site-addresses';

/** What `<data folder>/bootstrap.json` tells: addresses of this run, credentials as the first one made them. */
export interface Bootstrap {
  base_url: string;
  site_url: string;
  /** Of the process or, of a distributed run, of the first gateway. */
  metrics_url?: string;
  smtp: { host: string; port: number };
  lmtp: { host: string; port: number };
  organization_id: string;
  admin: { email: string; password: string };
  superadmin: { email: string; password: string };
  api_key: string;
  mailboxes: { id: string; address: string }[];
}

export type MailAddresses = Pick<Bootstrap, 'smtp' | 'lmtp'>;

const ADMIN_EMAIL = 'admin@dak.example';
const SUPERADMIN_EMAIL = 'superadmin@dak.example';
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
  { local, site }: SiteAddresses,
  mail: MailAddresses,
): Promise<Bootstrap> {
  const { firstRun } = data.secrets;
  const client = new BootstrapClient(`${local}/api/v1`, firstRun.apiKey);
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
    superadmin: { email: SUPERADMIN_EMAIL, password: firstRun.superadminPassword },
    api_key: firstRun.apiKey,
    mailboxes: await client.mailboxes(),
  };
}

/** The few calls that a first start makes, as an ordinary client of the API. */
class BootstrapClient {
  constructor(
    private readonly baseUrl: string,
    private readonly apiKey: string,
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
    const response = await fetch(`${this.baseUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.apiKey}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (response.status === 401) return null;
    const answer: unknown = await response.json();
    if (!response.ok) {
      const { error } = answer as { error: string };
      throw new DomainError('internal', 'first_run_failed', `${method} ${path}: ${error}`);
    }
    return answer;
  }
}
