import { Client } from 'pg';
import { eventually } from '@dak/testing/waiting';
import { eventOf, openTestLog } from './event-rig';
import { startGateway, type GatewayUnderTest } from './gateway-under-test';

describe('row-level security', () => {
  let log: Awaited<ReturnType<typeof openTestLog>>;
  let site: GatewayUnderTest;
  let owner: Client;
  let service: Client;

  beforeAll(async () => {
    log = await openTestLog();
    site = await startGateway({ log: log.log });
    owner = new Client({ connectionString: site.database.adminUrl });
    service = new Client({ connectionString: site.database.url });
    await Promise.all([owner.connect(), service.connect()]);
    const { organizationId } = site.seed;
    await owner.query(
      'insert into event_feed_head (organization_id, wanted_at) values ($1, now())',
      [organizationId],
    );
    await owner.query(
      `insert into erasure (id, requester_id, requester_name, requester_organization, request_id, finished_at)
       values (gen_random_uuid(), gen_random_uuid(), 'R', $1, 'r', now())`,
      [organizationId],
    );
    await log.publish([eventOf({ organizationId })]);
    const admin = await site.adminSession();
    await admin.post(
      '/settings/users',
      { email: 'x@dak.example', display_name: 'X', role: 'user', department_ids: [] },
      { 'Idempotency-Key': 'one' },
    );
    const department = await admin.post('/departments', { name: 'D' });
    await admin.put(`/departments/${department.body.id}/members`, {
      user_ids: [site.seed.admin.id],
    });
    const feedHasRows = async () => (await owner.query('select from event_feed')).rowCount === 1;
    await eventually(feedHasRows);
  });
  afterAll(async () => {
    await Promise.all([owner.end(), service.end()]);
    await site.close();
    await log.close();
  });

  async function tenantTables(): Promise<string[]> {
    const { rows } = await owner.query<{ name: string }>(`
      select c.relname as name
        from pg_class c
        join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'public'
       where c.relkind in ('r', 'p')
         and c.relname <> '_prisma_migrations'
       order by 1`);
    return rows.map((row) => row.name);
  }

  it('holds on every table, and every table has rows to hide', async () => {
    const tables = await tenantTables();
    expect(tables).toContain('user_account');
    for (const table of tables) {
      const all = await owner.query(`select 1 from ${table} limit 1`);
      expect([table, all.rowCount]).toEqual([table, 1]);
      const visible = await service.query(`select 1 from ${table} limit 1`);
      expect([table, visible.rowCount]).toEqual([table, 0]);
    }
  });

  it('shows another tenant nothing and lets it write nothing', async () => {
    for (const table of await tenantTables()) {
      await service.query('begin');
      await service.query(
        `select set_config('dak.organization_id', '01900000-0000-7000-8000-000000000000', true)`,
      );
      expect((await service.query(`select 1 from ${table} limit 1`)).rowCount).toBe(0);
      await service.query('rollback');
    }
    await service.query('begin');
    await service.query(
      `select set_config('dak.organization_id', '01900000-0000-7000-8000-000000000000', true)`,
    );
    await expect(
      service.query(`insert into department (organization_id, id, name) values ($1, $2, 'x')`, [
        site.seed.organizationId,
        '01900000-0000-7000-8000-000000000001',
      ]),
    ).rejects.toThrow('row-level security');
    await service.query('rollback');
  });

  it('is kept by a role that owns nothing and cannot bypass it', async () => {
    const { rows } = await owner.query(
      `select rolbypassrls, rolsuper,
              (select count(*)::int from pg_class where relowner = r.oid) as owned
         from pg_roles r where rolname = $1`,
      [site.database.role],
    );
    expect(rows).toEqual([{ rolbypassrls: false, rolsuper: false, owned: 0 }]);
  });
});
