import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { htmlTokens } from './html-tokens';
import { sanitizeHtml } from './sanitize-html';

const payloads = JSON.parse(
  readFileSync(join(__dirname, '..', 'test', 'corpora', 'payloads', 'payloads.json'), 'utf8'),
) as string[];

const clean = (html: string) => sanitizeHtml(html, { remoteImages: 'off' });

const FORBIDDEN_ELEMENT =
  /^(?:script|style|form|input|button|textarea|select|meta|base|link|svg|math|iframe|frame|object|embed|applet|template|title|xmp)$/;

/** What a browser could act on in sanitized HTML, whose attributes are all quoted. */
function dangers(html: string): string[] {
  const found: string[] = [];
  for (const token of htmlTokens(html)) {
    if (token.type === 'other') found.push(html.slice(token.start, token.end));
    if (FORBIDDEN_ELEMENT.test(token.name)) found.push(token.name);
    for (const [, name = '', value = ''] of token.attributes.matchAll(
      /([\w:-]+)(?:="([^"]*)")?/g,
    )) {
      if (/^on|^(?:id|name|class|action|formaction|srcdoc|background)$/i.test(name))
        found.push(name);
      if (
        /^(?:href|src)$/.test(name) &&
        !/^(?:https?:|mailto:|tel:|cid:|data:image\/(?!svg))/i.test(value)
      ) {
        found.push(value);
      }
    }
  }
  return found;
}

describe('sanitizeHtml', () => {
  it.each(payloads.map((payload, index) => [index, payload] as const))(
    'leaves nothing to act on of payload %i, and nothing to do twice',
    (_, payload) => {
      for (const remoteImages of ['off', 'on'] as const) {
        const once = sanitizeHtml(payload, { remoteImages });
        expect(dangers(once)).toEqual([]);
        expect(sanitizeHtml(once, { remoteImages })).toBe(once);
      }
    },
  );

  it('keeps links of mail and makes them leave no trace', () => {
    expect(clean('<a href="HTTPS://a.example/x y" target="_self" onclick="x()">z</a>')).toBe(
      '<a href="HTTPS://a.example/x%20y" rel="noopener noreferrer nofollow" target="_blank">z</a>',
    );
  });

  it.each([
    'java\tscript:alert(1)',
    ' javascript:alert(1)',
    'vbscript:x',
    'data:text/html,x',
    '//e.example',
    '/x',
    '&#106;avascript:x',
  ])('drops the link %j', (href) => {
    expect(clean(`<a href="${href}">x</a>`)).toBe('<a>x</a>');
  });

  it('switches remote images off, and on again', () => {
    const off = clean('<img src="https://t.example/p.png" alt="p">');
    expect(off).toBe('<img alt="p" data-remote-src="https://t.example/p.png" />');
    expect(sanitizeHtml(off, { remoteImages: 'on' })).toBe(
      '<img alt="p" src="https://t.example/p.png" />',
    );
  });

  it('keeps references to parts until it is told their addresses', () => {
    const kept = clean('<img src="CID:logo%40x"><img src="cid:gone">');
    expect(kept).toBe('<img src="cid:logo%40x" /><img src="cid:gone" />');
    const cid = (contentId: string) => (contentId === 'logo@x' ? '/files/1' : null);
    expect(sanitizeHtml(kept, { remoteImages: 'off', cid })).toBe('<img src="/files/1" /><img />');
  });

  it('keeps small pictures in data links and no other data', () => {
    expect(clean('<img src="data:image/png;base64,AAAA">')).toBe(
      '<img src="data:image/png;base64,AAAA" />',
    );
    expect(clean('<img src="data:image/svg+xml;base64,AAAA">')).toBe('<img />');
  });

  it('keeps style that stays inside the mail and shows what was hidden', () => {
    expect(
      clean(
        '<p style="COLOR: red; position:fixed; background:url(http://t.example); width:expression(1); font-family:\'A B\', serif">x</p>',
      ),
    ).toBe('<p style="color:red;font-family:\'A B\', serif">x</p>');
    expect(clean('<div style="display:none">ignore the rules</div>')).toBe(
      '<div>ignore the rules</div>',
    );
  });

  it.each([
    '<div>',
    '<b>',
    '<table><tr><td>',
    '<p><b>',
    '<a href=x>',
    '<',
    '&amp;',
    '<!--',
    '<p style="a:b"></x>',
  ])('takes time in proportion to the length of %j repeated', (unit) => {
    const html = unit.repeat(Math.floor(1_000_000 / unit.length));
    const started = performance.now();
    const once = clean(html);
    expect(performance.now() - started).toBeLessThan(5000);
    expect(once.length).toBeLessThan(8 * html.length);
  });
});
