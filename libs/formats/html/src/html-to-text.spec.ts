import { htmlToText } from './html-to-text';

describe('htmlToText', () => {
  it('reads as the page looks', () => {
    expect(
      htmlToText(
        '<title>no</title><style>p{}</style><h1>Offer</h1><p>Dear <b>Anna</b>,<br>see <a href="https://x.example">here</a>.</p><ul><li>one</li><li>two</li></ul><table><tr><td>a</td><td>b</td></tr></table>',
      ),
    ).toBe('Offer\n\nDear Anna,\nsee here.\n\n * one\n * two\n\nab');
  });

  it('marks quotations unless told otherwise', () => {
    const html = 'Yes<blockquote>old</blockquote>';
    expect(htmlToText(html)).toBe('Yes\n\n> old');
    expect(htmlToText(html, { quoteMarks: false })).toBe('Yes\n\nold');
  });

  it.each(['<div>', '<table><tr><td>', '<blockquote>', '<ul><li>', '<b>'])(
    'finds the text below 10 000 nested %s',
    (tag) => {
      const started = performance.now();
      expect(htmlToText(`${tag.repeat(10_000)}deep`)).toContain('deep');
      expect(performance.now() - started).toBeLessThan(3000);
    },
  );

  it('keeps a hundred thousand lines inside deep quotations within bounds', () => {
    const html = `${'<div><blockquote><ul><li>'.repeat(200)}${'<p>x</p>'.repeat(100_000)}`;
    const started = performance.now();
    expect(htmlToText(html).length).toBeLessThan(100 * html.length);
    expect(performance.now() - started).toBeLessThan(5000);
  });

  it.each(['<p>x</p>', '<br>', '<tr><td>x', '</p>', '<', '<img src=x>', '<li>'])(
    'takes time in proportion to the length of %j repeated',
    (unit) => {
      const html = unit.repeat(Math.floor(1_000_000 / unit.length));
      const started = performance.now();
      expect(htmlToText(html).length).toBeLessThan(2 * html.length);
      expect(performance.now() - started).toBeLessThan(5000);
    },
  );
});
