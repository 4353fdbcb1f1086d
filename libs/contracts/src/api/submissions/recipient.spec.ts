import { formatRecipient, normalizeAddress, parseRecipient } from './recipient';

it.each([
  ['a@b.example', { email: 'a@b.example', name: '' }],
  [' A.B@EXAMPLE.org ', { email: 'A.B@example.org', name: '' }],
  ['Meera N <meera@b.example>', { email: 'meera@b.example', name: 'Meera N' }],
  ['"N, Meera \\"M\\"" <meera@b.example>', { email: 'meera@b.example', name: 'N, Meera "M"' }],
  ['<meera@b.example>', { email: 'meera@b.example', name: '' }],
  ['jörg@bücher.example', { email: 'jörg@xn--bcher-kva.example', name: '' }],
  ['"odd local"@b.example', { email: '"odd local"@b.example', name: '' }],
  ['a+tag=x/y@b', { email: 'a+tag=x/y@b', name: '' }],
])('reads %s', (text, expected) => {
  expect(parseRecipient(text, 'to[0]')).toEqual(expected);
});

it.each([
  'nobody',
  '@b.example',
  'a@',
  'a@b@',
  'a b@c.example',
  '.a@b.example',
  'a..b@c.example',
  'a@-b.example',
  'a@b_.',
  'a@192.0.2.1',
  'a@[192.0.2.1]',
  'a@1.2.3',
  `${'x'.repeat(65)}@b.example`,
  'a@b.example, c@d.example',
  'Name <a@b.example',
  '',
])('refuses %s and names the field', (text) => {
  expect(() => parseRecipient(text, 'cc[3]')).toThrow('cc[3]');
});

it.each(['a@b.example\r\nBcc: x@y.example', 'Na\nme <a@b.example>', 'a\u0000@b.example'])(
  'refuses control characters: %j',
  (text) => {
    expect(() => parseRecipient(text, 'to[0]')).toThrow('control characters');
  },
);

it('writes what it reads', () => {
  for (const text of ['a@b.example', 'Meera N <meera@b.example>', '"N, Meera" <meera@b.example>']) {
    expect(formatRecipient(parseRecipient(text, 'to'))).toBe(text);
  }
});

it('compares domains in one form', () => {
  expect(normalizeAddress('x@BÜCHER.example')).toBe(normalizeAddress('x@xn--bcher-kva.example'));
});
