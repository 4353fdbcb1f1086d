import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, type Principal } from '@dak/kernel';
import { UploadDescription, type UploadRequest } from '@dak/contracts/mail';
import { FolderBlobStore } from '@dak/platform/blobs';
import { uploadFile } from '../src/sending/attachments/upload-file';
import { deleteExpiredUploads } from '../src/sending/attachments/upload-store';
import { contextOf, openMailDatabase, principal, type MailDatabase } from './mail-fixtures';

describe('content of uploads', () => {
  let mail: MailDatabase;
  let folder: string;
  let blobs: FolderBlobStore;
  beforeAll(async () => {
    mail = await openMailDatabase();
    folder = await mkdtemp(join(tmpdir(), 'dak-uploads-'));
    blobs = await FolderBlobStore.open(folder);
  });
  afterAll(async () => {
    await mail.close();
    await rm(folder, { recursive: true });
  });

  async function* parts(content: Buffer): AsyncGenerator<UploadRequest> {
    const value = UploadDescription.fromPartial({ filename: 'a.txt', contentType: 'text/plain' });
    yield { part: { $case: 'description', value } };
    yield { part: { $case: 'content', value: content } };
  }
  const upload = (caller: Principal, content: Buffer) =>
    uploadFile(
      { database: mail.database, blobs, clock: systemClock },
      parts(content),
      contextOf(caller),
    );
  const query = async <Row>({ organizationId }: Principal, sql: string): Promise<Row[]> => {
    const { rows } = await mail.database.inTenant(organizationId, (tx) =>
      tx.query<Row>(sql, [organizationId]),
    );
    return rows;
  };
  const noted = async (caller: Principal) => {
    const sql = 'select sha256 from blob_candidate where organization_id = $1';
    return (await query<{ sha256: string }>(caller, sql)).map(({ sha256 }) => sha256);
  };
  const nameOf = (content: Buffer) => createHash('sha256').update(content).digest('hex');

  it('is noted for removal when there is no room for it after all', async () => {
    const caller = principal();
    await query(
      caller,
      `insert into organization (organization_id, name, storage_bytes, updated_at) values ($1, 'Full', 10, now())`,
    );
    const content = Buffer.from('more than ten octets');
    await expect(upload(caller, content)).rejects.toMatchObject({ code: 'storage_full' });
    expect(await noted(caller)).toEqual([nameOf(content)]);
  });

  it('is noted for removal when the upload has had its day', async () => {
    const caller = principal();
    const content = Buffer.from('kept for a day');
    await upload(caller, content);
    expect(await noted(caller)).toEqual([]);
    await query(
      caller,
      `update upload set expires_at = now() - interval '1 minute' where organization_id = $1`,
    );
    expect(
      await mail.database.asWorker((tx) => deleteExpiredUploads(tx, 10)),
    ).toBeGreaterThanOrEqual(1);
    expect(await noted(caller)).toEqual([nameOf(content)]);
  });
});
