import { RIGHTS, type Right } from '@dak/contracts/rights';
import type { RouteDescription } from '@dak/gateway';
import { describeOnBothRuns } from '../stack/distributed-stack';
import { plainRequest, namedRoutes, routeName, send, STOCK_PER_ROUND } from './plain-requests';
import type { Stack } from '../stack/stack';
import { createTenant, superadminSession, type Tenant } from '../stack/tenant';

/** How often the suite prepares every route. */
const ROUNDS = 5;

/** Of the OpenAPI document what links are made of. */
interface LinkedDocument {
  paths: Record<string, Record<string, LinkedOperation>>;
}

interface LinkedOperation {
  operationId: string;
  parameters: { name: string; in: string }[];
  responses: Record<string, { links?: Record<string, Link> }>;
}

interface Link {
  operationId: string;
  parameters: Record<string, string>;
}

describeOnBothRuns('the API', (startStack) => {
  let stack: Stack;
  let tenant: Tenant;
  let superadmin: string;

  beforeAll(async () => {
    stack = await startStack();
    tenant = await createTenant(stack, 'tenantone', STOCK_PER_ROUND * ROUNDS);
    superadmin = await superadminSession(stack);
  }, 60_000);
  afterAll(async () => {
    await stack.close();
  });

  const credentialFor = (route: RouteDescription): string | undefined => {
    if (route.access === 'public') return undefined;
    if (route.access === 'superadmin') return superadmin;
    return route.sessionOnly ? tenant.admin.session : tenant.key;
  };

  it('answers a plain request on every route with success, as documented', async () => {
    const answered: [string, number, unknown][] = [];
    for (const route of stack.gateway.routeTable()) {
      const request = await plainRequest(route, stack, tenant, tenant.open);
      // The client holds every reply against the OpenAPI document.
      const { status, body } = await send(stack.client(credentialFor(route)), route, request);
      if (!route.statuses.includes(status)) answered.push([routeName(route), status, body]);
    }
    expect(answered).toEqual([]);
    expect(stack.failures).toEqual([]);
  }, 60_000);

  it('has no plain request for a route that is gone', () => {
    const routes = stack.gateway.routeTable().map(routeName);
    expect(namedRoutes().filter((name) => !routes.includes(name))).toEqual([]);
  });

  it('has the actions of the rights table and no others, each with the right that stands there', () => {
    const { routes } = stack.gateway;
    const actions = routes.map(({ method, path }) => `${method} ${path}`);
    expect(actions.sort()).toEqual(Object.keys(RIGHTS).sort());
    const rights: Readonly<Record<string, Right>> = RIGHTS;
    for (const { method, path, right } of routes) expect(right).toBe(rights[`${method} ${path}`]);
  });

  it('links replies to operations that are there, with every parameter of their paths', () => {
    const document = stack.gateway.openApi() as unknown as LinkedDocument;
    const operations = Object.values(document.paths).flatMap((item) =>
      Object.values(item).filter(({ operationId }) => operationId !== undefined),
    );
    const links = operations.flatMap(({ operationId: from, responses }) =>
      Object.values(responses).flatMap((reply) =>
        Object.values(reply.links ?? {}).map((link) => ({ from, ...link })),
      ),
    );
    for (const { operationId, parameters } of links) {
      const target = operations.find((one) => one.operationId === operationId);
      const needed = target!.parameters.filter((one) => one.in === 'path').map(({ name }) => name);
      expect([operationId, ...Object.keys(parameters).sort()]).toEqual([
        operationId,
        ...needed.sort(),
      ]);
    }
    const from = (name: string) =>
      links.filter((link) => link.from === name).map(({ operationId }) => operationId);
    expect(from('get_labels')).toEqual(['patch_labels_id', 'delete_labels_id']);
    expect(from('post_mailboxes')).toContain('get_mailboxes_id');
    expect(from('post_mailboxes_id_imports')).toContain('get_imports_id');
    expect(from('post_compose_send')).toContain('get_conversations_id');
    expect(from('get_conversations_id_messages')).toContain('get_conversations_id_messages_mid');
  });

  it('takes the key in either header and the session as bearer token', async () => {
    const anonymous = stack.client();
    for (const [header, value] of [
      ['Authorization', `Bearer ${tenant.key}`],
      ['X-API-Key', tenant.key],
      ['Authorization', `Bearer ${tenant.admin.session}`],
    ] as const) {
      const { status, body } = await anonymous.get('/', { [header]: value });
      expect([status, body.principal.user_id]).toEqual([200, tenant.admin.id]);
    }
  });

  /** Every route with what is wrong in its body; the client checks that an error has one field. */
  const withJson = (): RouteDescription[] =>
    stack.gateway.routeTable().filter((route) => route.bodyKind === 'json');

  it.each([
    ['broken JSON', 'application/json', '{"subject": "a"', 400, 'malformed_json'],
    ['a body that is no object', 'application/json', '[]', 400, 'invalid_request'],
    ['another media type', 'text/plain', '{}', 415, 'unsupported_media_type'],
  ])('answers %s on every route with one sentence', async (_, type, body, status, code) => {
    for (const route of withJson()) {
      const request = await plainRequest(route, stack, tenant, tenant.open);
      const client = stack.client(credentialFor(route));
      const headers = { 'Content-Type': type };
      const reply = await send(client, route, { ...request, body }, headers);
      expect([routeName(route), reply.status]).toEqual([routeName(route), status]);
      expect(reply.headers.get('x-error-code')).toBe(code);
      expect(reply.body.error).toMatch(/^\S.*\.$/);
      const problem = await send(
        client,
        route,
        { ...request, body },
        {
          ...headers,
          Accept: 'application/problem+json',
        },
      );
      expect(problem.headers.get('content-type')).toContain('application/problem+json');
      expect(problem.body).toMatchObject({ status, code, detail: reply.body.error });
    }
    expect(stack.failures).toEqual([]);
  });

  it('answers an id that is none and an id of nothing with the same status on every route', async () => {
    for (const route of stack.gateway.routeTable()) {
      if (!route.path.includes('{') || route.access === 'public') continue;
      const client = stack.client(credentialFor(route));
      const request = await plainRequest(route, stack, tenant, tenant.open);
      for (const value of ['nonsense', '..%2f..', 'ffffffff-ffff-4fff-8fff-ffffffffffff']) {
        const params = Object.fromEntries(
          Object.keys(request.params ?? {}).map((name) => [name, value]),
        );
        const reply = await send(client, route, { ...request, params });
        expect([routeName(route), value, reply.status]).toEqual([routeName(route), value, 404]);
      }
    }
  });
});
