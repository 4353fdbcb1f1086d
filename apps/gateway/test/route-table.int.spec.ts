import { SCOPES, type Scope } from '@dak/kernel';
import { eventually } from '@dak/testing/waiting';
import { API_BASE } from '../src/http/route-table';
import type { RouteDescription } from '../src/service';
import { startGateway, type GatewayUnderTest } from './gateway-under-test';

const MISSING_ID = '01900000-0000-7000-8000-000000000000';

describe('every route of the table', () => {
  let site: GatewayUnderTest;
  let routes: RouteDescription[];
  let userSession: string;
  let revoked: string;
  let expired: string;

  beforeAll(async () => {
    site = await startGateway();
    routes = site.gateway.routeTable();
    const admin = site.client(site.seed.apiKey);
    const password = 'a long enough password';
    await (
      await site.adminSession()
    ).post('/settings/users', {
      email: 'plain@dak.example',
      display_name: 'Plain',
      role: 'user',
      department_ids: [],
      password,
    });
    const login = await site.client().post('/auth/login', { email: 'plain@dak.example', password });
    userSession = login.body.access_token;
    const gone = await admin.post('/settings/api-keys', { name: 'gone', scopes: [...SCOPES] });
    await admin.delete(`/settings/api-keys/${gone.body.id}`);
    revoked = gone.body.key;
    const short = await admin.post('/settings/api-keys', {
      name: 'short',
      scopes: [...SCOPES],
      expires_at: new Date(Date.now() + 100).toISOString(),
    });
    expired = short.body.key;
    await eventually(async () => (await site.client(expired).get('/')).status === 401);
  });
  afterAll(async () => {
    await site.close();
  });

  const guarded = () => routes.filter((route) => route.access !== 'public');
  const call = (route: RouteDescription, credential?: string) => {
    const path = `/${route.path.replaceAll(/\{\w+\}/g, MISSING_ID)}`;
    const body = route.bodyKind === 'json' ? { body: {} } : {};
    return site.client(credential).call(route.method, path, body);
  };

  it('refuses no credential, a wrong, a revoked and an expired one', async () => {
    for (const route of guarded()) {
      for (const credential of [undefined, 'wrong', revoked, expired]) {
        expect([route.path, (await call(route, credential)).status]).toEqual([route.path, 401]);
      }
    }
  });

  it('refuses a key that has every scope but the ones that suffice, and names them', async () => {
    const admin = site.client(site.seed.apiKey);
    const keyWithout = new Map<string, string>();
    for (const route of guarded()) {
      if (route.access !== 'scopes') continue;
      const name = route.anyOf.join(' or ');
      if (!keyWithout.has(name)) {
        const scopes = SCOPES.filter((scope: Scope) => !route.anyOf.includes(scope));
        const made = await admin.post('/settings/api-keys', { name: 'without', scopes });
        keyWithout.set(name, made.body.key);
      }
      const reply = await call(route, keyWithout.get(name));
      expect([route.path, reply.status]).toEqual([route.path, 403]);
      const code = route.sessionOnly ? 'session_required' : 'missing_scope';
      expect(reply.headers.get('x-error-code')).toBe(code);
      if (!route.sessionOnly) expect(reply.body.error).toContain(name);
    }
  });

  it('refuses a plain user where a role is needed', async () => {
    for (const route of guarded()) {
      if (route.role === null && route.access !== 'superadmin') continue;
      expect([route.path, (await call(route, userSession)).status]).toEqual([route.path, 403]);
    }
  });

  it('refuses every key where a superadmin is needed', async () => {
    for (const route of guarded().filter((one) => one.access === 'superadmin')) {
      expect([route.path, (await call(route, site.seed.apiKey)).status]).toEqual([route.path, 403]);
    }
  });

  it('misses a record that is not there', async () => {
    for (const route of guarded()) {
      if (!route.path.includes('{') || route.access !== 'scopes' || route.sessionOnly) continue;
      const reply = await call(route, site.seed.apiKey);
      expect([404, 400]).toContain(reply.status);
    }
  });

  it('is in /capabilities with its scopes, and nothing else is', async () => {
    const { body } = await site.client(site.seed.apiKey).get('/capabilities');
    const told = body.resources.flatMap(
      (resource: { operations: unknown[] }) => resource.operations,
    );
    expect(told).toHaveLength(guarded().length);
    for (const route of guarded()) {
      expect(told).toContainEqual(
        expect.objectContaining({
          method: route.method,
          path: route.path,
          scopes: route.anyOf,
          scopes_also: route.also,
          mailbox_access: route.level,
          session_only: route.sessionOnly,
          role: route.access === 'superadmin' ? 'superadmin' : route.role,
        }),
      );
    }
    expect(body.scopes).toEqual({ granted: [...SCOPES], all: [...SCOPES] });
    expect(body.mcp).toEqual({ tools: [] });
    expect(body.events).toContain('mail.received');
  });

  it('is in the OpenAPI document with its success statuses, and nothing else is', async () => {
    const { body } = await site.client().get('/openapi.json');
    expect(body.openapi).toBe('3.1.0');
    const operations = Object.entries(
      body.paths as Record<string, Record<string, unknown>>,
    ).flatMap(([path, item]) =>
      Object.keys(item)
        .filter((name) => name !== 'servers')
        .map((method) => {
          const base = item['servers'] === undefined ? API_BASE : '';
          return `${method.toUpperCase()} ${path === '/' ? base : base + path}`;
        }),
    );
    expect(operations.sort()).toEqual(
      routes.map((route) => `${route.method} ${route.path}`).sort(),
    );
    const ids = Object.values(
      body.paths as Record<string, Record<string, { operationId?: string }>>,
    )
      .flatMap((item) => Object.values(item).map((operation) => operation.operationId))
      .filter((id) => id !== undefined);
    expect(new Set(ids).size).toBe(ids.length);
    expect(JSON.stringify(body)).not.toContain('$defs');
  });

  it('is shown on a page that loads its viewer from this site', async () => {
    const page = await site.client().get('//docs');
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('content-security-policy')).toContain("script-src 'sha256-");
    const files = [...String(page.body).matchAll(/(?:src|href)="(\/docs\/[^"]+)"/g)];
    expect(files).toHaveLength(2);
    for (const [, path] of files) {
      const plain = await fetch(site.baseUrl + path, {
        headers: { 'Accept-Encoding': 'identity' },
      });
      const packed = await fetch(site.baseUrl + path, { headers: { 'Accept-Encoding': 'gzip' } });
      expect([plain.status, plain.headers.get('content-encoding')]).toEqual([200, null]);
      expect([packed.status, packed.headers.get('content-encoding')]).toEqual([200, 'gzip']);
      const type = path!.endsWith('.css') ? 'text/css' : 'text/javascript';
      expect(plain.headers.get('content-type')).toBe(`${type}; charset=utf-8`);
      expect(await packed.text()).toBe(await plain.text());
    }
    expect((await site.client().get('//docs/package.json')).status).toBe(404);
  });
});
