import { UploadDescription } from '../../mail';
import { parseRequest, requestOf } from '../../requests';
import { CreateUpload, UploadFile } from './upload-requests';
import { createUploadToken } from './upload-token';

const file = { filename: 'a.png', content_type: 'image/png', size_bytes: 5 };

it('a file is described by its name alone, with more in one form', () => {
  const bare = UploadDescription.fromPartial({ filename: '' });
  expect(parseRequest(UploadFile, requestOf(bare))).toEqual({ filename: '', content_type: '' });
  const token = createUploadToken();
  const sha256 = 'AB'.repeat(32);
  expect(parseRequest(UploadFile, { ...file, token, sha256, content_id: '<a@b>' })).toEqual({
    ...file,
    token,
    sha256: sha256.toLowerCase(),
    content_id: 'a@b',
  });
});

it.each([
  [UploadFile, { content_id: '' }, 'content_id must be 1 to 200 characters'],
  [UploadFile, { content_id: 'a b' }, 'content_id must be 1 to 200 characters'],
  [UploadFile, { content_id: 'x'.repeat(201) }, 'content_id must be 1 to 200 characters'],
  [UploadFile, { disposition: 'hidden' }, 'disposition must be one of "attachment", "inline".'],
  [UploadFile, { token: 'upl_x' }, 'token must be the token of an upload.'],
  [UploadFile, { sha256: 'x' }, 'sha256 must be a SHA-256'],
  [CreateUpload, { filename: '' }, 'filename must not be empty.'],
  [CreateUpload, { size_bytes: 20 * 1024 * 1024 + 1 }, 'size_bytes must be at most 20971520.'],
])('what is refused: %#', (schema, fields, sentence) => {
  expect(() => parseRequest(schema, { ...file, ...fields })).toThrow(sentence);
});
