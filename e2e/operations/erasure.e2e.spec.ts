import pg from 'pg';
import type { ApiClient } from '@dak/testing/api-client';
import { eventually } from '@dak/testing/waiting';
import { describeOnBothRuns } from '../stack/distributed-stack';
import type { Stack } from '../stack/stack';
import { createTenant, superadminSession, type Tenant } from '../stack/tenant';

/** Rows by table of every table that names the organization. */
async function rowsOf(stack: Stack, organizationId: string): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const [name, { adminUrl }] of Object.entries(stack.databases)) {
    const client = new pg.Client({ connectionString: adminUrl });
    await client.connect();
    try {
      const { rows: tables } = await client.query<{ name: string }>(
        `select table_name as name from information_schema.columns
          where table_schema = 'public' and column_name = 'organization_id'`,
      );
      for (const { name: table } of tables) {
        const { rows } = await client.query<{ count: number }>(
          `select count(*)::int as count from "${table}" where organization_id = $1`,
          [organizationId],
        );
        if (rows[0]!.count > 0) found[`${name}.${table}`] = rows[0]!.count;
      }
    } finally {
      await client.end();
    }
  }
  return found;
}

describeOnBothRuns('the erasure of an organization', (startStack) => {
  let stack: Stack;
  let platform: ApiClient;
  let erased: Tenant;
  let other: Tenant;

  beforeAll(async () => {
    stack = await startStack();
    platform = stack.client(await superadminSession(stack));
    erased = await createTenant(stack, 'vanished');
    other = await createTenant(stack, 'lasting');
  }, 120_000);
  afterAll(() => stack.close());

  it('removes its rows from every table, frees its addresses, and touches nobody else', async () => {
    await erased.client.post('/webhooks', { url: 'https://hooks.example.com/x' });
    const before = await rowsOf(stack, other.organizationId);
    expect(Object.keys(await rowsOf(stack, erased.organizationId)).length).toBeGreaterThan(10);

    const path = `/admin/organizations/${erased.organizationId}`;
    expect((await platform.patch(path, { status: 'suspended' })).status).toBe(200);
    const { body } = await platform.get(path);
    expect((await platform.post(`${path}/erase`, { name: `not ${body.name}` })).status).toBe(422);
    const asked = await platform.post(`${path}/erase`, { name: body.name });
    expect(asked.status).toBe(202);
    await eventually(
      'it is not found',
      async () => (await platform.get(path)).status === 404,
      60_000,
    );
    expect((await platform.post(`${path}/erase`, { name: body.name })).status).toBe(404);

    expect(await rowsOf(stack, erased.organizationId)).toEqual({});
    expect((await platform.get(`${path}/erase`)).body).toMatchObject({ status: 'done' });
    for (const [table, count] of Object.entries(await rowsOf(stack, other.organizationId))) {
      expect([
        table,
        count >= (before[table] ?? 0) || /lease|idempotency|outbox|spool/.test(table),
      ]).toEqual([table, true]);
    }
    expect((await other.client.get('/conversations')).body.data.length).toBeGreaterThan(0);

    const again = await createTenant(stack, 'vanished');
    expect(again.organizationId).not.toBe(erased.organizationId);
    expect(stack.failures).toEqual([]);
  }, 240_000);
});
