import { decodeCharset } from './charsets';

const decode = (hex: string, charset: string | null) =>
  decodeCharset(Buffer.from(hex, 'hex'), charset);

describe('decodeCharset', () => {
  it.each([
    ['utf-8 with a byte order mark', 'efbbbfc3a4', 'UTF-8', 'ä'],
    ['iso-8859-1 with Windows letters', '80e4', 'iso-8859-1', '€ä'],
    ['iso-8859-15', 'a4', 'iso-8859-15', '€'],
    ['windows-1251', 'cff0e8', 'windows-1251', 'При'],
    ['koi8-r', 'f0d2c9', 'koi8-r', 'При'],
    ['iso-2022-jp', '1b2442467c4b5c1b2842', 'iso-2022-jp', '日本'],
    ['shift_jis', '93fa967b', 'shift_jis', '日本'],
    ['gb2312', 'c4e3bac3', 'gb2312', '你好'],
    ['big5', 'a741a66e', 'big5', '你好'],
    ['euc-kr by an old name', 'b0a1', 'ks_c_5601-1987', '가'],
    ['utf-16le', '3d04', 'utf-16le', 'н'],
  ])('reads %s', (_, hex, charset, expected) => {
    expect(decode(hex, charset)).toEqual({ text: expected, known: true });
  });

  it('reads undeclared 8-bit text as UTF-8 when it is valid and as windows-1252 otherwise', () => {
    expect(decode('c3a4', null).text).toBe('ä');
    expect(decode('e4', 'us-ascii').text).toBe('ä');
  });

  it.each(['x-klingon', 'base64', 'hex', '__proto__', 'constructor', 'internal', '', ' '])(
    'survives the charset %j',
    (charset) => {
      expect(decode('61e4', charset).text).toBe('aä');
    },
  );

  it.each(['utf-7', 'UTF7', 'unicode-1-1-utf-7', 'utf-7-imap', 'csutf7'])(
    'leaves %s as it stands',
    (charset) => {
      expect(decode('2b414f512d', charset)).toEqual({ text: '+AOQ-', known: false });
    },
  );

  it('reports a charset that it does not know', () => {
    expect(decode('61', 'x-klingon').known).toBe(false);
  });
});
