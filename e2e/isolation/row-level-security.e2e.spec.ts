import { SERVICES } from '@dak/platform/config';
import { columnsByTable } from './foreign-data';
import { plainRequest, routeName, send, STOCK_PER_ROUND } from '../routes/plain-requests';
import { leaveRuleTraces } from './rule-traces';
import { startStack, type Stack } from '../stack/stack';
import { createTenant, superadminSession, type Tenant } from '../stack/tenant';
import { withDatabase } from '../stack/stack-databases';

/** Holds no data of tenants: ids of events that a consumer has done. */
const OPEN_TO_ALL: readonly string[] = ['inbox'];

/** Rows that are gone once the work they stand for is done, and that only workers see. */
const PASSING: readonly string[] = ['inbound_spool', 'outbox', 'blob_candidate', 'removed_mail'];

describe('row-level security, after every route was used by two organizations', () => {
  let stack: Stack;
  let tenants: [Tenant, Tenant];

  beforeAll(async () => {
    stack = await startStack();
    tenants = [
      await createTenant(stack, 'tenantone', STOCK_PER_ROUND),
      await createTenant(stack, 'tenanttwo', STOCK_PER_ROUND),
    ];
    const superadmin = await superadminSession(stack);
    for (const tenant of tenants) {
      for (const route of stack.gateway.routeTable()) {
        const request = await plainRequest(route, stack, tenant, tenant.open);
        const credential = route.access === 'superadmin' ? superadmin : tenant.key;
        const headers = { 'Idempotency-Key': routeName(route) };
        await send(stack.client(credential), route, request, headers);
      }
      await leaveRuleTraces(stack, tenant);
    }
  }, 120_000);
  afterAll(async () => {
    await stack.close();
  });

  it.each(SERVICES)('hides every table of %s from who names no tenant', async (name) => {
    const { adminUrl, url } = stack.databases[name];
    const tables = [...(await withDatabase(adminUrl, columnsByTable)).keys()].filter(
      (table) => !OPEN_TO_ALL.includes(table),
    );
    expect(tables).toContain('organization');
    await withDatabase(url, async (database) => {
      for (const table of tables) {
        const { rowCount } = await database.query(`select 1 from ${table} limit 1`);
        expect([table, rowCount]).toEqual([table, 0]);
        const deleted = await database.query(`delete from ${table}`).then(
          (result) => result.rowCount,
          (error: Error) => error.message,
        );
        expect([0, `permission denied for table ${table}`]).toContain(deleted);
      }
    });
    await withDatabase(adminUrl, async (database) => {
      const { rows } = await database.query<{ name: string }>(`
        select c.relname as name
          from pg_class c
          join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'public'
         where c.relkind in ('r', 'p') and c.relrowsecurity and not c.relispartition
         order by 1`);
      expect(rows.map((row) => row.name)).toEqual(tables);
      const empty: string[] = [];
      for (const table of tables) {
        const { rowCount } = await database.query(`select 1 from ${table} limit 1`);
        if (rowCount === 0 && !PASSING.includes(table)) empty.push(table);
      }
      expect(empty).toEqual([]);
    });
  });

  it('holds for partitions, where the policies of their table do not reach', async () => {
    const { adminUrl } = stack.databases.webhook;
    await withDatabase(adminUrl, async (database) => {
      const { rows } = await database.query<{ secured: boolean; policies: number }>(`
        select c.relrowsecurity as secured,
               (select count(*)::int from pg_policy p where p.polrelid = c.oid) as policies
          from pg_class c
         where c.relispartition and c.relkind = 'r'`);
      expect(rows.length).toBeGreaterThan(1);
      for (const row of rows) expect(row).toEqual({ secured: true, policies: 0 });
    });
  });

  it.each(SERVICES)('shows a tenant its own rows of %s and no others', async (name) => {
    const { adminUrl, url } = stack.databases[name];
    const tables = await withDatabase(adminUrl, columnsByTable);
    const tenantColumns = new Map<string, string>();
    for (const [table, columns] of tables) {
      if (columns.has('organization_id')) tenantColumns.set(table, 'organization_id');
      else if (table === 'organization') tenantColumns.set(table, 'id');
    }
    expect(tenantColumns.has('organization')).toBe(true);
    await withDatabase(url, async (database) => {
      for (const tenant of tenants) {
        await database.query('begin');
        await database.query(`select set_config('dak.organization_id', $1, true)`, [
          tenant.organizationId,
        ]);
        let own = 0;
        for (const [table, tenantColumn] of tenantColumns) {
          const { rows } = await database.query<{ own: number; foreign: number }>(
            `select count(*) filter (where ${tenantColumn} = $1)::int as own,
                    count(*) filter (where ${tenantColumn} is distinct from $1)::int as foreign
               from ${table}`,
            [tenant.organizationId],
          );
          expect([table, rows[0]!.foreign]).toEqual([table, 0]);
          own += rows[0]!.own;
        }
        expect(own).toBeGreaterThan(tenantColumns.size / 2);
        await database.query('rollback');
      }
    });
  });

  it.each(SERVICES)(
    'holds for a role of %s that owns nothing and cannot bypass it',
    async (name) => {
      const { adminUrl, role } = stack.databases[name];
      await withDatabase(adminUrl, async (database) => {
        const { rows } = await database.query(
          `select rolbypassrls, rolsuper,
                (select count(*)::int from pg_class where relowner = r.oid) as owned
           from pg_roles r
          where rolname = $1`,
          [role],
        );
        expect(rows).toEqual([{ rolbypassrls: false, rolsuper: false, owned: 0 }]);
      });
    },
  );
});
