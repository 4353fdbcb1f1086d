import { parseParameterizedValue } from './parameters';

const parameter = (header: string, name: string) =>
  parseParameterizedValue(header).parameters.get(name);

describe('parseParameterizedValue', () => {
  it('splits value and parameters', () => {
    const { value, parameters } = parseParameterizedValue(
      'text/plain; CharSet="utf-8"; format=flowed',
    );
    expect(value).toBe('text/plain');
    expect([...parameters]).toEqual([
      ['charset', 'utf-8'],
      ['format', 'flowed'],
    ]);
  });

  it.each([
    ['a charset', "a; filename*=iso-8859-1'de'%E4%F6", 'äö'],
    [
      'continuations in any order',
      'a; filename*1="b c"; filename*0=a; filename*2=.txt',
      'ab c.txt',
    ],
    ['a character split between segments', "a; filename*0*=utf-8''%C3; filename*1*=%A4", 'ä'],
    ['extended and plain segments mixed', "a; filename*0*=utf-8''%C3%A4; filename*1=%41", 'ä%41'],
    ['a plain fallback beside it', "a; filename=x; filename*=utf-8''%C3%A4", 'ä'],
    ['no charset at all', 'a; filename*=a%20b', 'a b'],
    ['a broken percent sign', "a; filename*=utf-8''50%.txt", '50%.txt'],
  ])('decodes RFC 2231 with %s', (_, header, expected) => {
    expect(parameter(header, 'filename')).toBe(expected);
  });

  it.each([
    ['encoded words', 'a; name="=?utf-8?B?w6Q=?=.txt"', 'ä.txt'],
    ['unquoted encoded words', 'a; name==?koi8-r?B?89DJ08/LLmRvYw==?=', 'Список.doc'],
    ['raw UTF-8', 'a; name="ä.txt"', 'ä.txt'],
    ['unquoted spaces and brackets', 'a; name=my file (1).pdf; x=y', 'my file (1).pdf'],
    ['an unclosed quote', 'a; name="my file.pdf', 'my file.pdf'],
    ['folders with backslashes', 'a; name="C:\\new\\file.pdf"', 'C:\\new\\file.pdf'],
    ['escaped quotes', 'a; name="a \\"b\\".pdf"', 'a "b".pdf'],
    ['stray semicolons', 'a ; ; ;;; name=b', 'b'],
    ['missing semicolons', 'a name=b charset=c', 'b'],
    ['a missing semicolon after a quoted value', 'a; x="y" name=b', 'b'],
    ['spaces around the equals sign', 'a; name = "b"', 'b'],
    ['a repeated name', 'a; name=b; name=c', 'b'],
  ])('tolerates %s', (_, header, expected) => {
    expect(parameter(header, 'name')).toBe(expected);
  });

  it('drops comments', () => {
    expect(parameter('text/plain; charset=us-ascii (Plain text)', 'charset')).toBe('us-ascii');
    expect(parseParameterizedValue('(what) text/plain (for real)').value).toBe('text/plain');
  });
});
