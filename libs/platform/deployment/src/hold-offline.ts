import pg from 'pg';
import type { DatabaseUrls } from './databases';

/** Version 0 in the services: whatever the gateway announces next counts. */
const HOLD: Record<'gateway' | 'mail' | 'webhook', (name: 'outgoing' | 'webhooks') => string> = {
  gateway: (name) =>
    `update operations set ${name} = 'hold', version = version + 1, announced_version = 0, updated_at = now()`,
  mail: () => `update operations set outgoing = 'hold', version = 0, updated_at = now()`,
  webhook: () => `update operations set webhooks = 'hold', version = 0, updated_at = now()`,
};

/**
 * Sets stop switches in databases that nothing runs on, as after a restore: mail (or webhooks) wait from
 * the first moment of the next start, until PATCH `/admin/operations` sets them to `run`.
 * @param urls of the migrated databases, under any role that may write them
 */
export async function holdOffline(
  urls: Pick<DatabaseUrls, 'gateway' | 'mail' | 'webhook'>,
  names: readonly ('outgoing' | 'webhooks')[],
): Promise<void> {
  for (const name of names) {
    const service = name === 'outgoing' ? 'mail' : 'webhook';
    // The service first: what the gateway would tell it is no less than that.
    await execute(urls[service], HOLD[service](name));
    await execute(urls.gateway, HOLD.gateway(name));
  }
}

async function execute(connectionString: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query(`select set_config('dak.worker', 'on', false)`);
    const { rowCount } = await client.query(text);
    if (rowCount !== 1) throw new Error('The database has no switches: migrate it first.');
  } finally {
    await client.end();
  }
}
