import { z } from 'zod';
import { fault, parseRequest } from './parse-request';
import {
  closedShape,
  idListShape,
  lineShape,
  longTextShape,
  timeShape,
  utcTime,
} from './request-shapes';

const ID = '6A1F0A3E-3C1F-4F5E-9D7A-0D8F6A7B8C9D';
const schema = z.object({
  name: lineShape(10),
  ids: idListShape(2).optional(),
  color: z
    .string()
    .refine((text) => text !== 'red', fault('invalid_characters', 'must not be red.'))
    .optional(),
  part: closedShape({ a: z.int() }).optional(),
});

it('gives what the schema makes of a request', () => {
  expect(parseRequest(schema, { name: ' Box ', ids: [ID, ID.toLowerCase()] })).toEqual({
    name: 'Box',
    ids: [ID.toLowerCase()],
  });
});

it.each([
  [{}, 'invalid_request', 'name is missing: send a string.'],
  [undefined, 'invalid_request', 'the body is missing: send an object.'],
  [{ name: 'a\nb' }, 'invalid_request', 'name must be one line of 1 to 10 characters.'],
  [{ name: '', ids: ['x'] }, 'invalid_request', 'name must not be empty. ids[0] must be a UUID.'],
  [{ name: 'a', color: 'red' }, 'invalid_characters', 'color must not be red.'],
  [{ name: 'a', part: { a: 1, b: 2 } }, 'invalid_request', 'part.b is not a member of it: use a.'],
])('refuses %j with the code %s', (value, code, message) => {
  expect(() => parseRequest(schema, value)).toThrow(expect.objectContaining({ code, message }));
});

it('says a fault of another kind as that kind', () => {
  const body = z.object({ text: longTextShape(4, 'body_too_large', 'Attach it as a file.') });
  expect(parseRequest(body, { text: 'a\0\ud800' })).toEqual({ text: 'a\ufffd' });
  expect(() => parseRequest(body, { text: 'äöü' })).toThrow(
    expect.objectContaining({
      kind: 'too_large',
      code: 'body_too_large',
      message: 'text must not be larger than 4 bytes. Attach it as a file.',
    }),
  );
});

it.each(['0000-01-01T00:00:00Z', '9999-12-31T23:59:59-23:59'])(
  'refuses the time %s, whose year no record can have',
  (at) => {
    const sentence = 'at must be in the years 1 to 9999.';
    expect(() => parseRequest(z.object({ at: utcTime }), { at })).toThrow(sentence);
    expect(() => parseRequest(z.object({ at: timeShape }), { at })).toThrow(sentence);
  },
);
