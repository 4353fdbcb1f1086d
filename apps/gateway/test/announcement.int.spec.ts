import { Client } from 'pg';
import type {
  PutKeyEndRequest,
  PutOrganizationRequest,
  PutUserRequest,
} from '@dak/contracts/tenant';
import { eventually } from '@dak/testing/waiting';
import { startGateway } from './gateway-under-test';
import { silentService } from './silent-service';

describe('what the services are told about organizations', () => {
  it('is every new and changed one, before the change is answered, and again after a failure', async () => {
    const told: PutOrganizationRequest[] = [];
    let broken = false;
    const site = await startGateway({
      tenants: [
        silentService({
          putOrganization: (state) => {
            if (broken && state.name !== 'Fine') return Promise.reject(new Error('not reachable'));
            told.push(state);
            return Promise.resolve({});
          },
        }),
      ],
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
      await eventually(() => told.at(-1)!.name === 'Acme');
      expect(told.at(-1)).toMatchObject({ organizationId: acme.body.id, status: 'suspended' });
    } finally {
      await site.close();
    }
  });
});

describe('what the services are told about people', () => {
  it('is role, activity and departments of each, before the change is answered', async () => {
    const told = new Map<string, PutUserRequest>();
    let calls = 0;
    const site = await startGateway({
      tenants: [
        silentService({
          putUser: (state) => {
            calls += 1;
            told.set(state.userId, state);
            return Promise.resolve({});
          },
        }),
      ],
    });
    try {
      expect([...told.values()].map(({ role }) => role).sort()).toEqual(['admin', 'superadmin']);
      const client = await site.adminSession();
      const department = async (name: string): Promise<string> =>
        (await client.post('/departments', { name })).body.id;
      const [sales, support] = [await department('Sales'), await department('Support')];
      const made = await client.post('/settings/users', {
        email: 'ravi@acme.example',
        display_name: 'Ravi',
        role: 'user',
        department_ids: [sales],
      });
      const { id } = made.body;
      const seen = () => told.get(id)!;
      expect(seen()).toMatchObject({
        organizationId: site.seed.organizationId,
        userId: id,
        role: 'user',
        active: true,
        departmentIds: [sales],
      });

      let { version } = seen();
      const isNewer = () => {
        const grew = seen().version > version;
        ({ version } = seen());
        return grew;
      };
      await client.put(`/departments/${support}/members`, { user_ids: [id] });
      expect(seen().departmentIds).toEqual([sales, support].sort());
      expect(isNewer()).toBe(true);
      await client.delete(`/departments/${sales}`);
      expect(seen().departmentIds).toEqual([support]);
      expect(isNewer()).toBe(true);
      await client.put(`/departments/${support}/members`, { user_ids: [] });
      expect(seen().departmentIds).toEqual([]);
      expect(isNewer()).toBe(true);
      await client.patch(`/settings/users/${id}`, { role: 'admin' });
      expect(seen().role).toBe('admin');
      expect(isNewer()).toBe(true);
      await client.patch(`/settings/users/${id}`, { active: false });
      expect(seen().active).toBe(false);
      expect(isNewer()).toBe(true);

      const before = calls;
      await client.patch(`/settings/users/${id}`, { display_name: 'Ravi K' });
      expect(calls).toBe(before);
    } finally {
      await site.close();
    }
  });

  it('is told again until it is heard, and to a service that came later', async () => {
    const told: PutUserRequest[] = [];
    let broken = true;
    const site = await startGateway({
      tenants: [
        silentService({
          putUser: (state) => {
            if (broken) return Promise.reject(new Error('not reachable'));
            told.push(state);
            return Promise.resolve({});
          },
        }),
      ],
    });
    try {
      broken = false;
      await eventually(() => told.length >= 2);
      expect(told.map(({ role }) => role).sort()).toEqual(['admin', 'superadmin']);
    } finally {
      await site.close();
    }
  });
});

describe('what the services are told about API keys', () => {
  it('is the end of each, before a revocation is answered, and again until it is heard', async () => {
    const told: PutKeyEndRequest[] = [];
    let broken = false;
    const site = await startGateway({
      tenants: [
        silentService({
          putKeyEnd: (end) => {
            if (broken) return Promise.reject(new Error('not reachable'));
            told.push(end);
            return Promise.resolve({});
          },
        }),
      ],
    });
    const until = (check: () => boolean) =>
      eventually(() => `more than ${JSON.stringify(told)}`, check);
    try {
      const client = site.client(site.seed.apiKey);
      const make = async (expiresAt?: string): Promise<string> => {
        const fields = { name: 'key', scopes: ['mail.read'], expires_at: expiresAt };
        return (await client.post('/settings/api-keys', fields)).body.id;
      };
      const [first, second] = [await make(), await make()];
      await client.delete(`/settings/api-keys/${first}`);
      const { organizationId } = site.seed;
      expect(told).toMatchObject([{ organizationId, keyId: first }]);

      broken = true;
      await client.delete(`/settings/api-keys/${second}`);
      expect(told).toHaveLength(1);
      broken = false;
      await until(() => told.some(({ keyId }) => keyId === second));

      const third = await make(new Date(Date.now() + 200).toISOString());
      await until(() => told.some(({ keyId }) => keyId === third));
      expect(told).toHaveLength(3);

      // Whatever a request of the key was still making: told once more when none can be left.
      const owner = new Client({ connectionString: site.database.adminUrl });
      await owner.connect();
      await owner.query(
        `update api_key set revoked_at = now() - interval '3 minutes' where id = $1`,
        [first],
      );
      await owner.end();
      await until(() => told.filter(({ keyId }) => keyId === first).length === 2);
    } finally {
      await site.close();
    }
  }, 45_000);
});
