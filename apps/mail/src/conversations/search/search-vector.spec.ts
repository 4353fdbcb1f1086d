import { searchVector, type SearchText } from './search-vector';

const EMPTY: SearchText = {
  organizationId: 'o',
  mailboxId: 'm',
  subject: '',
  from: null,
  recipients: [],
  body: '',
};

describe('searchVector', () => {
  it('weighs subject, sender, recipients and text, in one row of positions', () => {
    const vector = searchVector({
      ...EMPTY,
      subject: 'Broken lamp',
      from: { email: 'ada@x.example', name: 'Ada' },
      recipients: [{ email: 'b@y.example', name: '' }],
      body: 'The lamp',
    });
    expect(vector).toBe(
      "'@o' '@m' 'broken':1A 'lamp':2A,11 'ada@x.example':3B 'ada':3B,6B 'x':4B 'example':5B,9C " +
        "'b@y.example':7C 'b':7C 'y':8C 'the':10",
    );
  });

  it.each([
    ["don't", "'don':1 't':2"],
    ['shop.example/cart', "'shop.example/cart':1 'shop':1 'example':2 'cart':3"],
    ['<mailto:a@b.example>', "'mailto':1 'a@b.example':2 'a':2 'b':3 'example':4"],
    ["'); drop -- \\x", "'drop':1 'x':2"],
  ])('takes %s apart', (body, lexemes) => {
    expect(searchVector({ ...EMPTY, body })).toBe(`'@o' '@m' ${lexemes}`);
  });

  it('leaves out what is no word, and keeps within the limits of PostgreSQL', () => {
    const body = `${'x'.repeat(3_000)} ${'again '.repeat(5_000)}`;
    const vector = searchVector({ ...EMPTY, body });
    expect(vector).not.toContain('xxx');
    expect(vector.match(/\d+/g)!.length).toBeLessThanOrEqual(64);
  });

  it('is quick on text made to be slow', () => {
    const started = performance.now();
    for (const part of ['a%', 'a@', 'a.', 'a@b.', '-', 'é́']) {
      searchVector({ ...EMPTY, body: part.repeat(50_000) });
    }
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
