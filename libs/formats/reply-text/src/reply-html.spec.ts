import { extractReply } from './extract-reply';
import { newHtmlOfReply } from './reply-html';

const bare = (html: string) => newHtmlOfReply(html).html.replace(/\s+/g, '');

describe('newHtmlOfReply', () => {
  it.each([
    [
      'Gmail',
      '<div>Yes</div><div class="gmail_quote"><div>Intro</div><blockquote>old</blockquote></div>',
    ],
    ['Outlook', '<div>Yes</div><hr><div id="divRplyFwdMsg"><b>X</b></div><div>old</div>'],
    ['Apple', '<div>Yes</div><blockquote type="cite">old</blockquote>'],
    ['Yahoo', '<div>Yes</div><div class="yahoo_quoted" id="yahoo_quoted_1">old</div>'],
    [
      'Thunderbird',
      '<div>Yes</div><div class="moz-cite-prefix">On 4/4/19 10:00, B wrote:</div><blockquote type="cite">old</blockquote>',
    ],
  ])('takes out the old mail of %s with its empty elements', (_, html) => {
    expect(bare(html)).toBe('<div>Yes</div>');
  });

  it('keeps the markup of what stays', () => {
    const html =
      '<ul><li><b>One</b></li></ul><p>On 4/4/2019 at 10:00, B &lt;b@c.d&gt; wrote:</p><blockquote>old</blockquote><p>Below</p>';
    expect(bare(html)).toBe('<ul><li><b>One</b></li></ul><p>Below</p>');
  });

  it('keeps answers between quoted paragraphs, and their questions', () => {
    const html =
      '<div class="gmail_quote">On 4/4/2019 B wrote:<blockquote class="gmail_quote">one?</blockquote><div>Yes</div><blockquote class="gmail_quote">two?</blockquote><div>No</div></div>';
    expect(newHtmlOfReply(html)).toMatchObject({ html, method: 'interleaved' });
  });

  it('keeps a paragraph that the author indented', () => {
    const html = 'See:<blockquote class="gmail_quote">a poem</blockquote>';
    expect(newHtmlOfReply(html)).toMatchObject({ html, method: 'none' });
  });

  it('never leaves nothing', () => {
    const html = '<blockquote type="cite">all old</blockquote>';
    expect(newHtmlOfReply(html)).toMatchObject({ html, method: 'all_quoted' });
  });

  it.each(['<div>', '<b>', '</p>', '<table><tr><td>', '<p>x', '<!--', '<a b="', '<br>', '&'])(
    'takes time in proportion to the length of %s repeated',
    (unit) => {
      const html = unit.repeat(Math.floor(1_000_000 / unit.length));
      const started = performance.now();
      expect(newHtmlOfReply(html).html.length).toBeGreaterThan(0);
      expect(performance.now() - started).toBeLessThan(5000);
    },
  );
});

describe('extractReply', () => {
  it('cuts the text and the HTML each by itself', () => {
    const reply = extractReply({
      text: 'Yes\n\nOn 4/4/2019 at 10:00, B <b@c.d> wrote:\n> old',
      html: '<p>Yes</p><div class="gmail_quote">On 4/4/2019, B wrote:<blockquote>old</blockquote></div>',
    });
    expect(reply).toMatchObject({ text: 'Yes', method: 'attribution', language: 'en' });
    expect(reply.html).toBe('<p>Yes</p>');
  });

  it('makes the text from the HTML when there is no other', () => {
    const html = '<p>Yes</p><p>Sent from my iPhone</p><blockquote type="cite">old</blockquote>';
    expect(extractReply({ text: null, html }).text).toBe('Yes');
    expect(extractReply({ text: null, html: null }).text).toBeNull();
  });
});
