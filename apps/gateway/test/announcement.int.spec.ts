import { setTimeout as delay } from 'node:timers/promises';
import type { OrganizationState } from '../src/service';
import { startGateway } from './gateway-under-test';

describe('what the services are told about organizations', () => {
  it('is every new and changed one, before the change is answered, and again after a failure', async () => {
    const told: OrganizationState[] = [];
    let broken = false;
    const site = await startGateway({
      announceOrganization: (state) => {
        if (broken && state.name !== 'Fine') return Promise.reject(new Error('not reachable'));
        told.push(state);
        return Promise.resolve();
      },
    });
    try {
      expect(told.map((state) => state.name).sort()).toEqual(['Demo', 'Platform']);
      const { email, password } = site.seed.superadmin;
      const login = await site.client().post('/auth/login', { email, password });
      const platform = site.client(login.body.access_token);
      const create = (name: string) =>
        platform.post('/admin/organizations', {
          name,
          admin: { email: `boss@${name.toLowerCase()}.example`, display_name: 'Boss' },
        });
      const acme = await create('Acme');
      expect(told.at(-1)).toMatchObject({ organizationId: acme.body.id, status: 'active' });

      broken = true;
      await platform.patch(`/admin/organizations/${acme.body.id}`, { status: 'suspended' });
      await create('Fine');
      expect(told.at(-1)).toMatchObject({ name: 'Fine' });
      broken = false;
      const deadline = Date.now() + 10_000;
      while (told.at(-1)!.name !== 'Acme' && Date.now() < deadline) await delay(50);
      expect(told.at(-1)).toMatchObject({ organizationId: acme.body.id, status: 'suspended' });
    } finally {
      await site.close();
    }
  });
});
