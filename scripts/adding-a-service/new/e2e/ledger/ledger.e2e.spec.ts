import { describeOnBothRuns } from '../stack/distributed-stack';
import type { Stack } from '../stack/stack';
import { withDatabase } from '../stack/stack-databases';
import { createTenant, type Tenant } from '../stack/tenant';

describeOnBothRuns('the ledger', (startStack) => {
  let stack: Stack;
  let tenant: Tenant;

  beforeAll(async () => {
    stack = await startStack();
    tenant = await createTenant(stack, 'ledgerworks', 0);
  }, 60_000);
  afterAll(async () => {
    await stack.close();
  });

  it('keeps an entry in its database, once for one key, and refuses what its schema refuses', async () => {
    const headers = { 'Idempotency-Key': 'once' };
    const asked = { title: 'A lamp', amount: 1_250 };
    const made = await tenant.client.post('/ledger/entries', asked, headers);
    const again = await tenant.client.post('/ledger/entries', asked, headers);
    const refused = await tenant.client.post('/ledger/entries', { title: 'A lamp' });
    expect([made.status, again.status, refused.status]).toEqual([201, 201, 400]);
    expect(again.body).toEqual(made.body);
    const { rows } = await withDatabase(stack.databases.ledger.adminUrl, (database) =>
      database.query('select organization_id, title, amount::int from entry'),
    );
    const row = { organization_id: tenant.organizationId, title: 'A lamp', amount: 1_250 };
    expect(rows).toEqual([row]);
  });
});
