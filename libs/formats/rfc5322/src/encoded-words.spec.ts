import { decodeHeaderText } from './encoded-words';

describe('decodeHeaderText', () => {
  it.each([
    ['Q', '=?ISO-8859-1?Q?Gr=FC=DFe_aus_K=F6ln?=', 'Grüße aus Köln'],
    ['B', '=?utf-8?b?4KSo4KSu4KS44KWN4KSk4KWH?=', 'नमस्ते'],
    ['ISO-2022-JP', '=?ISO-2022-JP?B?GyRCRnxLXDhsGyhC?=', '日本語'],
    ['GB2312', '=?gb2312?B?xOO6ww==?=', '你好'],
    ['UTF-7, which is not read', '=?utf-7?Q?+AOQ-?=', '+AOQ-'],
    ['a language tag', '=?US-ASCII*EN?Q?Keith_Moore?=', 'Keith Moore'],
    ['an unknown charset that is UTF-8', '=?x-what?Q?=C3=A4?=', 'ä'],
    ['an unknown charset that is not', '=?x-what?Q?=E4?=', 'ä'],
    ['missing base64 padding', '=?utf-8?B?YWI?=', 'ab'],
    ['spaces in the encoded text', '=?utf-8?Q?a b?=', 'a b'],
    ['a word inside a word', '3d-=?ISO-8859-1?Q?=63?=om', '3d-com'],
    ['raw text', 'plain ä', 'plain ä'],
    ['what only looks encoded', 'a =?= b =?utf-8?X?y?= c', 'a =?= b =?utf-8?X?y?= c'],
  ])('reads %s', (_, value, expected) => {
    expect(decodeHeaderText(value)).toBe(expected);
  });

  it('drops the white space between adjacent encoded words, and only that', () => {
    expect(decodeHeaderText('=?utf-8?Q?a?=  =?iso-8859-1?Q?=E4?= b =?utf-8?Q?c?=')).toBe('aä b c');
  });

  it('joins a character that is split between two words', () => {
    expect(decodeHeaderText('=?utf-8?B?4KSo4KQ=?= =?utf-8?Q?=AE?=')).toBe('नम');
  });

  it('leaves no line break or control character in the result', () => {
    expect(decodeHeaderText('=?utf-8?Q?a=0D=0ABcc:_x=00y?=')).toBe('a Bcc: x y');
  });
});
