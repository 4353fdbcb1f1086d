import { textQuery } from './text-query';

describe('textQuery', () => {
  it.each([
    ['meer', "'meer':*"],
    ['Pune  Invoice', "'pune':* & 'invoice':*"],
    ['order?!', "'order':*"],
    ['customer.example', "('customer.example':* | ('customer':* & 'example':*))"],
    ['a.b+c@x.example', "'a.b+c@x.example':*"],
    ["don't", "('don''t':* | ('don':* & 't':*))"],
    ['back\\slash', "('back\\\\slash':* | ('back':* & 'slash':*))"],
    ['नमस्ते', "'नमस्ते':*"],
  ])('makes beginnings of words of %s', (typed, text) => {
    expect(textQuery(typed)).toEqual({ kind: 'tsquery', text });
  });

  it.each(['"exact phrase"', 'invoice -refund', 'invoice or refund'])(
    'leaves %s to the web search grammar',
    (typed) => {
      expect(textQuery(typed)).toEqual({ kind: 'websearch', text: typed });
    },
  );

  it.each(['', '   ', '?!', '&|'])('has nothing to look for in %j', (typed) => {
    expect(textQuery(typed)).toBeNull();
  });

  it('looks for a hyphenated word, not for its second half without the first', () => {
    expect(textQuery('e-mail')).toMatchObject({ kind: 'tsquery' });
  });
});
