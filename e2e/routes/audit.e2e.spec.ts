import { eventually } from '@dak/testing/waiting';
import { auditedChange, auditedRouteNames } from './audited-changes';
import { describeOnBothRuns } from '../stack/distributed-stack';
import { plainRequest, routeName, send, STOCK_PER_ROUND } from './plain-requests';
import type { Stack } from '../stack/stack';
import { createTenant, superadminSession, type Tenant } from '../stack/tenant';

interface AuditEntry {
  id: string;
  action: string;
  actor: { type: string; id: string | null };
  outcome: string;
  request_id: string;
}

describeOnBothRuns('the audit log', (startStack) => {
  let stack: Stack;
  let tenant: Tenant;
  let superadmin: string;

  beforeAll(async () => {
    stack = await startStack();
    tenant = await createTenant(stack, 'markaudited', STOCK_PER_ROUND);
    superadmin = await superadminSession(stack);
  }, 60_000);
  afterAll(async () => {
    await stack.close();
  });

  it('has an entry for every change of every route, with who did it and by which request', async () => {
    const expected = new Map<string, string>();
    const seen = new Map<string, string>();
    for (const route of stack.gateway.routeTable()) {
      const name = routeName(route);
      const change = auditedChange(route, stack.gateway);
      if (change === null) continue;
      const { action } = change;
      const request = await plainRequest(route, stack, tenant, tenant.open);
      const credential =
        route.access === 'public'
          ? undefined
          : route.access === 'superadmin'
            ? superadmin
            : route.sessionOnly
              ? tenant.admin.session
              : tenant.key;
      const requestId = `audited-${expected.size}`;
      const headers = { ...request.headers, 'X-Request-Id': requestId };
      const { status } = await send(stack.client(credential), route, { ...request, headers });
      expect([name, status < 300]).toEqual([name, true]);
      if (action !== undefined) expected.set(requestId, action);
    }
    await eventually(
      () => `entries for ${JSON.stringify([...expected].filter(([id]) => !seen.has(id)))}`,
      async () => {
        for (const entry of await entries()) seen.set(entry.request_id, entry.action);
        return [...expected.keys()].every((id) => seen.has(id));
      },
    );
    for (const [id, action] of expected) expect([id, seen.get(id)]).toEqual([id, action]);
    expect((await tenant.client.get('/audit/verify')).body).toMatchObject({ valid: true });
    expect(stack.failures).toEqual([]);
  }, 120_000);

  it('has no decision about a route that is gone', () => {
    const routes = stack.gateway.routeTable().map(routeName);
    expect(auditedRouteNames().filter((name) => !routes.includes(name))).toEqual([]);
  });

  it('shows a change as soon as it is answered', async () => {
    for (let i = 0; i < 5; i += 1) {
      const { body } = await tenant.client.post('/labels', { name: tenant.unique() });
      const listed = await tenant.client.get(`/audit?target=${body.id}`);
      expect(listed.body.data).toMatchObject([
        {
          action: 'label.created',
          actor: { type: 'api_key', id: tenant.keyId },
          outcome: 'succeeded',
        },
      ]);
    }
  });

  it('has no entry for a change that was refused', async () => {
    const name = tenant.unique();
    const made = await tenant.client.post('/labels', { name });
    const again = await tenant.client.post('/labels', { name });
    expect([made.status, again.status]).toEqual([201, 409]);
    const { body } = await tenant.client.get('/audit?action=label.created&per_page=100');
    const names = (body.data as { details: { name: string } }[]).map(({ details }) => details.name);
    expect(names.filter((one) => one === name)).toHaveLength(1);
  });

  /** Those of the tenant and, of what superadmins do, of the platform's own organization. */
  async function entries(): Promise<AuditEntry[]> {
    const all: AuditEntry[] = [];
    for (const credential of [tenant.key, superadmin]) {
      let cursor = '';
      for (;;) {
        const { body } = await stack.client(credential).get(`/audit?per_page=100${cursor}`);
        all.push(...body.data);
        if (body.next_cursor === null) break;
        cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`;
      }
    }
    return all;
  }
});
