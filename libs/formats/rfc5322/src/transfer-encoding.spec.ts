import fc from 'fast-check';
import { decodeTransferEncoding } from './transfer-encoding';

const decode = (text: string, encoding: string) => {
  const { bytes, clean } = decodeTransferEncoding(Buffer.from(text, 'latin1'), encoding);
  return [Buffer.from(bytes).toString('latin1'), clean];
};

describe('base64', () => {
  it.each([
    ['line breaks', 'aGVs\r\nbG8=\r\n', 'hello', true],
    ['missing padding', 'aGVsbG8', 'hello', true],
    ['characters outside the alphabet', 'aG!Vs*bG8=', 'hello', false],
    ['a footer after the padding', 'aGVsbG8=\n___\nlist footer', 'hello', false],
    ['an equals sign out of place', '=aGVsbG8=', 'hello', false],
    ['nothing', '', '', true],
  ])('is read with %s', (_, text, expected, clean) => {
    expect(decode(text, 'base64')).toEqual([expected, clean]);
  });

  it('gives back every sequence of bytes, also with noise between the characters', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.constantFrom('', '\n', '-', '!\r\n'), (bytes, noise) => {
        const text = Array.from(Buffer.from(bytes).toString('base64')).join(noise);
        expect(Buffer.from(decodeTransferEncoding(Buffer.from(text), 'base64').bytes)).toEqual(
          Buffer.from(bytes),
        );
      }),
    );
  });
});

describe('quoted-printable', () => {
  it.each([
    ['escapes in both cases', '=C3=a4', '\xc3\xa4', true],
    ['soft line breaks', 'a=\r\nb=\nc', 'abc', true],
    ['white space before a soft break as content', 'a =\nb', 'a b', true],
    ['white space after a soft break as padding', 'a= \t\nb', 'ab', true],
    ['white space at the end of a line as padding', 'a  \t\r\nb \nc ', 'a\r\nb\r\nc', true],
    ['encoded white space at the end of a line', 'a=20\nb', 'a \r\nb', true],
    ['line breaks as CRLF', 'a\nb\r\nc', 'a\r\nb\r\nc', true],
    ['a literal equals sign', 'a=b, 1+1=2=', 'a=b, 1+1=2', false],
    ['an equals sign at the very end', 'a=', 'a', true],
  ])('has %s', (_, text, expected, clean) => {
    expect(decode(text, 'quoted-printable')).toEqual([expected, clean]);
  });
});

describe('other encodings', () => {
  it('leaves identity encodings as a view of the same bytes', () => {
    const bytes = Buffer.from('a=20');
    expect(decodeTransferEncoding(bytes, '8bit').bytes).toBe(bytes);
  });

  it('leaves uuencode and x-gzip64 undecoded and calls an unknown one a defect', () => {
    expect(decode('begin 644 x', 'x-uuencode')).toEqual(['begin 644 x', true]);
    expect(decode('abc', 'x-gzip64')).toEqual(['abc', true]);
    expect(decode('abc', 'rot13')).toEqual(['abc', false]);
  });
});
