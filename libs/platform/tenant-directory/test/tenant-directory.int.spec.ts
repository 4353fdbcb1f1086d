import { uuidv7, type Principal } from '@dak/kernel';
import { PutOrganizationRequest, type PutUserRequest } from '@dak/contracts/tenant';
import type { CallContext } from '@dak/platform/grpc';
import { Database } from '@dak/platform/postgres';
import { createTenantHandlers } from '../src/handlers';
import { findPeople, saveCaller } from '../src/directory-store';
import { formerTenantHandlers } from '../src/former-contracts';
import { nothingToDo, type TenantDirectoryParts } from '../src/tenant-directory-parts';
import { createTestDatabase, type TestDatabase } from '@dak/testing/database';
import { directoryMigrations, fragmentMigrations } from './directory-databases';

const fragment = fragmentMigrations();
afterAll(() => fragment.remove());

/** The handlers take nothing from the caller, who is always the gateway. */
const context = {} as CallContext;

function partsOf(
  database: Database,
  change: Partial<TenantDirectoryParts> = {},
): TenantDirectoryParts {
  return {
    database,
    onOrganization: nothingToDo,
    onPerson: nothingToDo,
    onKeyEnd: nothingToDo,
    stopSwitch: null,
    forget: null,
    onErase: nothingToDo,
    ...change,
  };
}

const organization = (change: Partial<PutOrganizationRequest>) =>
  PutOrganizationRequest.fromPartial({ name: 'Org', status: 'active', ...change });

const person = (change: Partial<PutUserRequest>): PutUserRequest => ({
  organizationId: '',
  userId: '',
  role: 'user',
  active: true,
  departmentIds: [],
  version: 1,
  ...change,
});

describe.each([['the fragment', fragment.folder], ...directoryMigrations()])(
  'the tenant directory on the tables of %s',
  (service, migrationsFolder) => {
    let testDatabase: TestDatabase;
    let database: Database;

    beforeAll(async () => {
      testDatabase = await createTestDatabase({
        name: service.replaceAll(' ', '_'),
        migrationsFolder,
      });
      database = new Database({ url: testDatabase.url, applicationName: 'directory' });
    });
    afterAll(async () => {
      await database.close();
      await testDatabase.drop();
    });

    const statusOf = (organizationId: string) =>
      database.inTenant(organizationId, async (tx) => {
        const { rows } = await tx.query<{ status: string }>('select status from organization');
        return rows.map(({ status }) => status);
      });
    const personOf = async (organizationId: string, userId: string) =>
      (
        await database.inTenant(organizationId, (tx) => findPeople(tx, organizationId, [userId]))
      ).get(userId);

    it('keeps the latest announcement of an organization, and says which was news', async () => {
      const heard: object[] = [];
      const { putOrganization } = createTenantHandlers(
        partsOf(database, {
          onOrganization: async (_tx, { version }, known) => {
            heard.push({ version, ...known });
            return undefined;
          },
        }),
      );
      const organizationId = uuidv7();
      const put = (status: string, version: number) =>
        putOrganization(organization({ organizationId, status, version }), context);
      await put('active', 1);
      await put('active', 3);
      await put('suspended', 2);
      expect(await statusOf(organizationId)).toEqual(['active']);
      await put('suspended', 4);
      await put('suspended', 4);
      expect(await statusOf(organizationId)).toEqual(['suspended']);
      expect(heard).toEqual([
        { version: 1, isFirst: true, isNews: true },
        { version: 3, isFirst: false, isNews: true },
        { version: 2, isFirst: false, isNews: false },
        { version: 4, isFirst: false, isNews: true },
        { version: 4, isFirst: false, isNews: false },
      ]);
    });

    it('takes an organization of which the service made a row itself for one that is new', async () => {
      const organizationId = uuidv7();
      await database.inTenant(organizationId, (tx) =>
        tx.query(
          `insert into organization (organization_id, name, updated_at) values ($1, '', now())`,
          [organizationId],
        ),
      );
      const heard: boolean[] = [];
      const { putOrganization } = createTenantHandlers(
        partsOf(database, {
          onOrganization: async (_tx, _organization, { isFirst }) => {
            heard.push(isFirst);
            return undefined;
          },
        }),
      );
      for (const version of [1, 2]) {
        await putOrganization(organization({ organizationId, version }), context);
      }
      expect(heard).toEqual([true, false]);
    });

    it('keeps the latest announcement of a person, in place of what their own call told', async () => {
      const heard: number[] = [];
      const { putUser } = createTenantHandlers(
        partsOf(database, {
          onPerson: async (_tx, { version }) => {
            heard.push(version);
            return undefined;
          },
        }),
      );
      const [organizationId, userId, department] = [uuidv7(), uuidv7(), uuidv7()];
      const who = { organizationId, userId };
      expect(await personOf(organizationId, userId)).toBeUndefined();
      const caller = { ...who, role: 'admin', departmentIds: [] } as unknown as Principal;
      await database.inTenant(organizationId, (tx) => saveCaller(tx, caller));
      expect(await personOf(organizationId, userId)).toMatchObject({ role: 'admin', active: true });

      await putUser(person({ ...who, version: 2, departmentIds: [department] }), context);
      await putUser(person({ ...who, version: 1, active: false }), context);
      await database.inTenant(organizationId, (tx) => saveCaller(tx, caller));
      expect(await personOf(organizationId, userId)).toEqual({
        userId,
        role: 'user',
        active: true,
        departmentIds: [department],
      });
      expect(heard).toEqual([2]);
      expect(await personOf(uuidv7(), userId)).toBeUndefined();
    });

    it('stores nothing when the service fails, and the service acts only once it is stored', async () => {
      const organizationId = uuidv7();
      let fails = true;
      const seen: string[][] = [];
      const after: Promise<string[]>[] = [];
      const { putOrganization } = createTenantHandlers(
        partsOf(database, {
          onOrganization: async () => {
            seen.push(await statusOf(organizationId));
            if (fails) throw new Error('no');
            return () => {
              after.push(statusOf(organizationId));
            };
          },
        }),
      );
      const put = () => putOrganization(organization({ organizationId, version: 1 }), context);
      await expect(put()).rejects.toThrow('no');
      expect(await statusOf(organizationId)).toEqual([]);
      fails = false;
      await put();
      expect(seen).toEqual([[], []]);
      expect(await Promise.all(after)).toEqual([['active']]);
    });

    it('erases all that names the organization, and hears no more of it', async () => {
      const [erased, other] = [uuidv7(), uuidv7()];
      const ends: boolean[] = [];
      const tenants = createTenantHandlers(
        partsOf(database, {
          onErase: async () => async (isDone) => {
            ends.push(isDone);
            return { blobs: 2, bytes: 7, more: false };
          },
        }),
      );
      const tell = async (organizationId: string) => {
        await tenants.putOrganization(organization({ organizationId, version: 1 }), context);
        await tenants.putUser(person({ organizationId, userId: uuidv7() }), context);
      };
      await tell(erased);
      await tell(other);
      const result = await tenants.eraseOrganization({ organizationId: erased }, context);
      expect(result).toEqual({ rows: 2, blobs: 2, bytes: 7, more: false });
      expect(ends).toEqual([true]);
      await tell(erased);
      expect(await tenants.eraseOrganization({ organizationId: erased }, context)).toMatchObject({
        rows: 0,
      });
      expect(await statusOf(other)).toEqual(['active']);
    });

    it('passes the end of a key on, and refuses ids that are none', async () => {
      const ended: string[] = [];
      const { putKeyEnd, putUser } = createTenantHandlers(
        partsOf(database, {
          onKeyEnd: async (_tx, organizationId, keyId) => {
            ended.push(`${organizationId} ${keyId}`);
            return undefined;
          },
        }),
      );
      const [organizationId, keyId] = [uuidv7(), uuidv7()];
      await putKeyEnd({ organizationId, keyId }, context);
      expect(ended).toEqual([`${organizationId} ${keyId}`]);
      await expect(putKeyEnd({ organizationId, keyId: 'x' }, context)).rejects.toMatchObject({
        kind: 'invalid',
        message: 'key_id must be a UUID.',
      });
      await expect(putUser(person({ organizationId: 'x' }), context)).rejects.toMatchObject({
        message: 'organization_id must be a UUID.',
      });
    });

    it('has copies to forget only where the service keeps some', async () => {
      const asked: unknown[] = [];
      const organizationId = uuidv7();
      const request = { organizationId, removed: [{ conversationId: uuidv7() }] };
      expect(await createTenantHandlers(partsOf(database)).forget(request, context)).toEqual({
        events: 0,
        more: false,
      });
      const { forget } = createTenantHandlers(
        partsOf(database, {
          forget: async (_tx, id, what) => {
            asked.push({ id, ...what });
            return { events: 3, more: true };
          },
        }),
      );
      expect(await forget(request, context)).toEqual({ events: 3, more: true });
      expect(asked).toEqual([{ id: organizationId, before: null, removed: request.removed }]);
    });

    it('understands a gateway of the former version', async () => {
      const organizations: PutOrganizationRequest[] = [];
      const former = formerTenantHandlers(
        createTenantHandlers(
          partsOf(database, {
            onOrganization: async (_tx, heard) => {
              organizations.push(heard);
              return undefined;
            },
          }),
        ),
      );
      const organizationId = uuidv7();
      const known = { organizationId, name: 'Org', status: 'active', version: 1 };
      await former.putOrganization(known, context);
      await former.putOrganization({ ...known, version: 2, outgoing: 'hold' }, context);
      expect(organizations.map(({ outgoing, firstDomains }) => [outgoing, firstDomains])).toEqual([
        ['', []],
        ['hold', []],
      ]);
    });
  },
);

describe('the stop switch of a service', () => {
  it('is its own alone, at run or hold, and an older version changes nothing', async () => {
    const testDatabase = await createTestDatabase({
      name: 'switched',
      migrationsFolder: fragment.folder,
    });
    const database = new Database({ url: testDatabase.url, applicationName: 'directory' });
    try {
      const states: string[] = [];
      const { putOperations } = createTenantHandlers(
        partsOf(database, {
          stopSwitch: { name: 'webhooks', onSwitched: () => states.push('switched') },
        }),
      );
      const stored = () =>
        database.asWorker(async (tx) => {
          const { rows } = await tx.query<{ webhooks: string }>('select webhooks from operations');
          return rows[0]!.webhooks;
        });
      await putOperations({ outgoing: 'run', webhooks: 'hold', version: 2 }, context);
      await putOperations({ outgoing: 'hold', webhooks: 'run', version: 1 }, context);
      expect(await stored()).toBe('hold');
      await putOperations({ outgoing: '', webhooks: 'run', version: 3 }, context);
      expect(await stored()).toBe('run');
      expect(states).toHaveLength(3);
      await expect(
        putOperations({ outgoing: 'run', webhooks: '', version: 4 }, context),
      ).rejects.toMatchObject({ message: 'webhooks must be run or hold.' });
      const unconcerned = createTenantHandlers(partsOf(database));
      await unconcerned.putOperations({ outgoing: 'run', webhooks: '', version: 5 }, context);
      expect(await stored()).toBe('run');
    } finally {
      await database.close();
      await testDatabase.drop();
    }
  });
});
