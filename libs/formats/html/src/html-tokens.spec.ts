import { attributeValue, htmlTokens } from './html-tokens';

const pieces = (html: string) =>
  htmlTokens(html).map(({ type, name, start, end }) => [type, name, html.slice(start, end)]);

describe('htmlTokens', () => {
  it('cuts tags, text, comments and raw text', () => {
    expect(pieces('a<!-- <b> --><P class="x>y">1 < 2</P><script>"</b>"</script>z')).toEqual([
      ['text', '', 'a'],
      ['other', '', '<!-- <b> -->'],
      ['open', 'p', '<P class="x>y">'],
      ['text', '', '1 < 2'],
      ['close', 'p', '</P>'],
      ['open', 'script', '<script>'],
      ['other', '', '"</b>"'],
      ['close', 'script', '</script>'],
      ['text', '', 'z'],
    ]);
  });

  it.each(['<a b="', '<!--', '<script>x', '</', '<', '<p', 'x>y'])(
    'gives the whole source back for %j, however broken',
    (html) => {
      expect(
        pieces(html)
          .map(([, , source]) => source)
          .join(''),
      ).toBe(html);
    },
  );
});

describe('attributeValue', () => {
  it('reads quoted and bare values and no part of another name', () => {
    const attributes = ` data-id="1" CLASS='a b' id=x`;
    expect(attributeValue(attributes, 'id')).toBe('x');
    expect(attributeValue(attributes, 'class')).toBe('a b');
    expect(attributeValue(attributes, 'type')).toBeNull();
  });
});
