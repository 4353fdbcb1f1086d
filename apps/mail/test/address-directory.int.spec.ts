import { uuidv7 } from '@dak/kernel';
import { eventually } from '@dak/testing/waiting';
import { createAddressDirectory } from '../src/mailboxes/addresses/address-directory';
import { OWNER_KEPT_MS } from '../src/domains/domain';
import { insertMailbox, openMailDatabase, type MailDatabase } from './mail-fixtures';

describe('the directory of addresses', () => {
  let mail: MailDatabase;
  beforeAll(async () => {
    mail = await openMailDatabase();
  });
  afterEach(() => jest.restoreAllMocks());
  afterAll(() => mail.close());

  it('forgets whose an address was after a second, also when the clock was set back', async () => {
    const organizationId = uuidv7();
    const { address } = await insertMailbox(mail.database, organizationId);
    const directory = createAddressDirectory(mail.database);
    expect(await directory.resolve(address)).toMatchObject({ kind: 'deliver' });
    await mail.database.inTenant(organizationId, (tx) => tx.query('delete from domain'));
    const now = Date.now() - 3_600_000;
    jest.spyOn(Date, 'now').mockImplementation(() => now);
    const isForgotten = async () => (await directory.resolve(address)).kind !== 'deliver';
    await eventually(isForgotten, OWNER_KEPT_MS + 5_000);
    expect(await directory.resolve(address)).toEqual({ kind: 'unknown' });
  });
});
