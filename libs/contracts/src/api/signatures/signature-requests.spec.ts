import { CreateSignatureRequest } from '../../mail';
import { parseRequest, requestOf } from '../../requests';
import { CreateSignature, UpdateSignature } from './signature-requests';

it('a new signature has what it leaves out, a patch has not', () => {
  const signature = { body_html: '', body_text: '', mailbox_id: null, is_default: false };
  expect(parseRequest(CreateSignature, { name: ' Office ' })).toEqual({
    name: 'Office',
    ...signature,
  });
  const message = CreateSignatureRequest.fromPartial({ name: 'Office' });
  expect(parseRequest(CreateSignature, requestOf(message))).toEqual({
    name: 'Office',
    ...signature,
  });
  expect(parseRequest(UpdateSignature, { mailbox_id: null })).toEqual({ mailbox_id: null });
});

it.each([
  [{ name: ' ' }, 'invalid_request', 'name must not be empty'],
  [{ name: 'a\nb' }, 'invalid_request', 'name must be one line'],
  [{ name: 'x'.repeat(101) }, 'invalid_request', 'name must have at most 100'],
  [{ mailbox_id: 'mine' }, 'invalid_request', 'mailbox_id must be a UUID.'],
  [
    { body_html: 'ä'.repeat(32_769) },
    'signature_too_large',
    'body_html must not be larger than 65536',
  ],
  [
    { body_text: 'a'.repeat(65_537) },
    'signature_too_large',
    'body_text must not be larger than 65536',
  ],
])('refuses %j with the code %s', (fields, code, sentence) => {
  expect(() => parseRequest(CreateSignature, { name: 'Office', ...fields })).toThrow(
    expect.objectContaining({ code, message: expect.stringContaining(sentence) as string }),
  );
});
