import { systemClock, uuidv7 } from '@dak/kernel';
import { createTenantHandlers } from '../src/mailboxes/organizations/handlers';
import { contextOf, openMailDatabase, principal, type MailDatabase } from './mail-fixtures';

let mail: MailDatabase;
beforeAll(async () => {
  mail = await openMailDatabase();
});
afterAll(() => mail.close());

it('an announcement of an organization that was overtaken changes nothing', async () => {
  const { database } = mail;
  const tenants = createTenantHandlers({
    database,
    clock: systemClock,
    onKeyEnd: () => Promise.resolve(),
  });
  const organizationId = uuidv7();
  const put = (status: string, version: number) =>
    tenants.putOrganization(
      {
        organizationId,
        name: 'Org',
        status,
        timeZone: 'UTC',
        version,
        outgoing: '',
        firstDomains: [],
      },
      contextOf(principal({ organizationId })),
    );
  const stored = () =>
    database.inTenant(organizationId, async (tx) => {
      const { rows } = await tx.query<{ status: string }>('select status from organization');
      return rows[0]!.status;
    });
  await put('active', 1);
  await put('active', 3);
  await put('suspended', 2);
  expect(await stored()).toBe('active');
  await put('suspended', 4);
  expect(await stored()).toBe('suspended');
});
