import { textQuery } from './text-query';

describe('textQuery', () => {
  it.each([
    ['meer', "'meer':*"],
    ['Pune  Invoice', "'pune':* & 'invoice':*"],
    ['order?!', "'order':*"],
    ['customer.example', "('customer.example':* | ('customer':* & 'example':*))"],
    ['INV-2026-001', "('inv-2026-001':* | ('inv':* & '2026':* & '001':*))"],
    ['a.b+c@x.example', "'a.b+c@x.example':*"],
    ["don't", "'don':* & 't'"],
    ['hi 12 ab3', "'hi' & '12' & 'ab3':*"],
    ['發票', "'發票':*"],
    ['back\\slash', "'back':* & 'slash':*"],
    ['नमस्ते', "'नमस्ते':*"],
  ])('makes beginnings of words of %s', (typed, query) => {
    expect(textQuery(typed)?.text).toBe(query);
  });

  it.each([
    ['"exact phrase"', "('exact' <-> 'phrase')"],
    ['"unclosed phrase', "('unclosed' <-> 'phrase')"],
    ['invoice -refund', "'invoice' & !'refund'"],
    ['invoice -"paid in full"', "'invoice' & !('paid' <-> 'in' <-> 'full')"],
    ['invoice or refund pune', "('invoice') | ('refund' & 'pune')"],
    ['or invoice or', "'invoice'"],
    ['"2026-11-21"', "('2026' <-> '11' <-> '21')"],
    ['"or"', "'or'"],
  ])('reads %s as web searches do', (typed, query) => {
    expect(textQuery(typed)?.text).toBe(query);
  });

  it.each(['', '   ', '?!', '&|', '"', '-"" or'])('has nothing to look for in %j', (typed) => {
    expect(textQuery(typed)).toBeNull();
  });
});
