import { UnavailableError } from '@dak/kernel';
import { startGateway, type GatewayUnderTest } from './gateway-under-test';
import { silentService } from './silent-service';

describe('an organization that is being erased', () => {
  let site: GatewayUnderTest;
  let goOn = (): void => undefined;

  beforeAll(async () => {
    const mayEnd = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    site = await startGateway({
      tenants: [
        silentService({
          eraseOrganization: async () => {
            await mayEnd;
            return { rows: 0, blobs: 0, bytes: 0, more: false };
          },
        }),
      ],
    });
  });
  afterAll(() => site.close());

  it('is not activated again, because what is gone does not come back', async () => {
    const { email, password } = site.seed.superadmin;
    const { body } = await site.client().post('/auth/login', { email, password });
    const platform = site.client(body.access_token);
    const path = `/admin/organizations/${site.seed.organizationId}`;
    const { name } = (await platform.patch(path, { status: 'suspended' })).body;
    const asked = platform.post(`${path}/erase`, { name });
    while ((await platform.get(`${path}/erase`)).status !== 200) await new Promise(setImmediate);
    const refused = await platform.patch(path, { status: 'active' });
    expect([refused.status, refused.headers.get('x-error-code')]).toEqual([
      409,
      'organization_erased',
    ]);
    expect((await platform.get(path)).body.status).toBe('suspended');
    goOn();
    expect((await asked).status).toBe(202);
    expect((await platform.get(path)).status).toBe(404);
  }, 30_000);
});

describe('an erasure that a service cannot join yet', () => {
  let site: GatewayUnderTest;
  let isAway = true;

  beforeAll(async () => {
    site = await startGateway({
      tenants: [
        silentService({
          eraseOrganization: () =>
            isAway
              ? Promise.reject(new UnavailableError('The service is away.'))
              : Promise.resolve({ rows: 0, blobs: 0, bytes: 0, more: false }),
        }),
      ],
    });
  });
  afterAll(() => site.close());

  it('is accepted all the same, and goes on when it is asked for again', async () => {
    const { email, password } = site.seed.superadmin;
    const { body } = await site.client().post('/auth/login', { email, password });
    const platform = site.client(body.access_token);
    const path = `/admin/organizations/${site.seed.organizationId}`;
    const { name } = (await platform.patch(path, { status: 'suspended' })).body;
    const asked = await platform.post(`${path}/erase`, { name });
    expect([asked.status, asked.body.status]).toEqual([202, 'running']);
    isAway = false;
    const again = await platform.post(`${path}/erase`, { name });
    expect([again.status, again.body.status]).toEqual([202, 'done']);
    expect((await platform.get(path)).status).toBe(404);
  }, 30_000);
});
