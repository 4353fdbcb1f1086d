import { systemClock, uuidv7 } from '@dak/kernel';
import { PutOrganizationRequest } from '@dak/contracts/tenant';
import type { BlobStore } from '@dak/platform/blobs';
import { createTenantHandlers } from '@dak/platform/tenant-directory';
import { createDomainHandlers } from '../src/domains/handlers';
import { putDomains } from '../src/domains/put-domains';
import { mailTenants } from '../src/tenant-directory';
import {
  contextOf,
  insertMailbox,
  openMailDatabase,
  principal,
  type MailDatabase,
} from './mail-fixtures';

describe('domains that a superadmin gives', () => {
  let mail: MailDatabase;
  beforeAll(async () => {
    mail = await openMailDatabase();
  });
  afterAll(() => mail.close());

  const put = (organizationId: string, names: string[], isClaim = false) => {
    const who = { userId: uuidv7(), userName: 'Root', requestId: 'test' };
    const request = { organizationId, names, isClaim, ...who };
    return putDomains({ database: mail.database, clock: systemClock }, request);
  };
  const announce = (organizationId: string, version: number, firstDomains: string[]) => {
    const tenants = createTenantHandlers(
      mailTenants({
        database: mail.database,
        clock: systemClock,
        // Nothing is erased here.
        blobs: {} as BlobStore,
        onReleased: () => undefined,
      }),
    );
    return tenants.putOrganization(
      PutOrganizationRequest.fromPartial({ organizationId, name: 'Org', version, firstDomains }),
      contextOf(principal()),
    );
  };
  const owned = async (organizationId: string): Promise<string[]> => {
    const { database } = mail;
    const cursorKey = new Uint8Array(32);
    const lookupTxt = () => Promise.resolve({ kind: 'none' } as const);
    const handlers = createDomainHandlers({ database, clock: systemClock, cursorKey, lookupTxt });
    const page = await handlers.listDomains(
      { page: { page: 1, perPage: 100, cursor: '' } },
      contextOf(principal({ organizationId })),
    );
    const records = JSON.parse(page.dataJson.toString()) as { name: string; status: string }[];
    return records.filter(({ status }) => status === 'verified').map(({ name }) => name);
  };
  const age = (organizationId: string) =>
    mail.database.inTenant(organizationId, (tx) =>
      tx.query(`update domain set created_at = now() - interval '11 minutes'`),
    );
  const taken = { kind: 'conflict', code: 'domain_taken' };

  it('are all that it owns, whatever order they are named in', async () => {
    const [one, other] = [uuidv7(), uuidv7()];
    const names = ['b.put.example', 'A.put.example.', 'a.put.example'];
    expect((await put(one, names)).names).toEqual(['a.put.example', 'b.put.example']);
    expect(await owned(one)).toEqual(['a.put.example', 'b.put.example']);
    await expect(put(other, ['c.put.example', 'b.put.example'])).rejects.toMatchObject(taken);
    expect(await owned(other)).toEqual([]);
    await put(one, ['b.put.example']);
    await put(other, ['a.put.example']);
    expect([await owned(one), await owned(other)]).toEqual([['b.put.example'], ['a.put.example']]);
  });

  it('go to one of many who are given them at the same time', async () => {
    const organizations = Array.from({ length: 6 }, () => uuidv7());
    const names = ['x.race.example', 'y.race.example'];
    const results = await Promise.allSettled(
      organizations.map((id, index) => put(id, index % 2 === 0 ? names : [...names].reverse())),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const all = (await Promise.all(organizations.map(owned))).flat();
    expect(all.sort()).toEqual(names);
  });

  it('are granted when an organization is first heard of, and never again', async () => {
    const id = uuidv7();
    await announce(id, 1, ['first.example']);
    expect(await owned(id)).toEqual(['first.example']);
    await put(id, []);
    await announce(id, 1, ['first.example']);
    await announce(id, 2, ['first.example']);
    expect(await owned(id)).toEqual([]);
    const late = uuidv7();
    await put(id, ['first.example']);
    await announce(late, 1, ['first.example', 'second.example']);
    expect([await owned(id), await owned(late)]).toEqual([['first.example'], ['second.example']]);
  });

  it('are free again when the organization they were set aside for never came to be', async () => {
    const [phantom, made, other] = [uuidv7(), uuidv7(), uuidv7()];
    await put(phantom, ['phantom.example'], true);
    await put(made, ['made.example'], true);
    await announce(made, 1, ['made.example']);
    await expect(put(other, ['phantom.example'])).rejects.toMatchObject(taken);
    await Promise.all([age(phantom), age(made)]);
    await expect(put(other, ['made.example'])).rejects.toMatchObject(taken);
    await put(other, ['phantom.example']);
    expect([await owned(other), await owned(phantom)]).toEqual([['phantom.example'], []]);
  });

  it('stay with an organization that has mailboxes, though nobody has spoken of it', async () => {
    const [silent, other] = [uuidv7(), uuidv7()];
    await put(silent, ['silent.example'], true);
    await insertMailbox(mail.database, silent, 'a@silent.example');
    await age(silent);
    await expect(put(other, ['silent.example'])).rejects.toMatchObject(taken);
    expect(await owned(silent)).toEqual(['silent.example']);
  });
});
