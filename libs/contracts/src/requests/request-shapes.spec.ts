import { emailShape, linesShape, lineShape, nameShape, timeZoneShape } from './request-shapes';

it.each([
  ['a line', lineShape(5), ' abc ', 'abc'],
  ['a name', nameShape, ' Zoë ', 'Zoë'],
  ['lines', linesShape(10), 'a\r\n\tb', 'a\r\n\tb'],
  ['an address', emailShape, ' Zoe@Example.org ', 'zoe@example.org'],
  ['a time zone', timeZoneShape, 'Asia/Kolkata', 'Asia/Kolkata'],
])('%s is taken', (_, shape, text, parsed) => {
  expect(shape.parse(text)).toBe(parsed);
});

it.each([
  ['a line', lineShape(5), ['', '  ', 'abcdef', 'a\nb', 'a\u2028b', 'a\u0000', 'a\ud800']],
  ['a name', nameShape, ['', 'a\r\nb', 'a\u0085b', 'a'.repeat(201)]],
  ['lines', linesShape(10), ['a\u0000', 'a\u001b[0m', 'a\ud800', 'a'.repeat(11)]],
  ['an address', emailShape, ['zoe', 'zoe@', `${'a'.repeat(250)}@example.org`]],
  ['a time zone', timeZoneShape, ['', '+05:30', 'Nowhere', 'Asia/Kolkata ']],
])('%s is refused', (_, shape, texts) => {
  expect(texts.filter((text) => shape.safeParse(text).success)).toEqual([]);
});
