import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { TemplateContent as ContentMessage } from '@dak/contracts/mail';
import { htmlTokens } from '@dak/formats/html';
import { renderTemplate } from './render-template';
import { newTemplate, type TemplateContent } from './template-content';
import { resolveVariables } from './template-variable';

interface Declared {
  subject?: string;
  body_text?: string;
  body_html?: string;
  variables?: unknown[];
}

function saved(fields: Declared): TemplateContent {
  return newTemplate(
    ContentMessage.fromPartial({
      name: 'Test',
      subject: fields.subject ?? '',
      bodyText: fields.body_text,
      bodyHtml: fields.body_html,
      variablesJson: Buffer.from(JSON.stringify(fields.variables ?? [])),
    }),
  );
}

function filled(fields: Declared, variables: Record<string, unknown> = {}) {
  const content = saved(fields);
  const { values, missing } = resolveVariables(content.variables, variables, 'template_variables');
  return { ...renderTemplate(content, values), missing, kept: content };
}

const text = (name: string, more: object = {}) => ({ name, type: 'string', ...more });

describe('golden templates', () => {
  const folder = join(__dirname, '../../../test/golden/templates');
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));

  it.each(files)('%s', (name) => {
    const file = join(folder, name);
    const golden = JSON.parse(readFileSync(file, 'utf8')) as {
      template: Declared;
      values: Record<string, unknown>;
      kept: unknown;
      rendered: unknown;
    };
    const { kept, ...rendered } = filled(golden.template, golden.values);
    const now = { ...golden, kept: { body_html: kept.bodyHtml }, rendered };
    if (process.env['DAK_UPDATE_GOLDEN'] === '1') {
      writeFileSync(file, `${JSON.stringify(now, null, 2)}\n`);
    }
    expect(now).toEqual(golden);
  });

  it('are there', () => expect(files.length).toBeGreaterThan(5));
});

describe('what a value can do', () => {
  const page = '<h1 title="{{a}}">{{a}}</h1><p>Dear {{#shown}}{{a}}{{/shown}}</p>';
  const variables = [text('a'), { name: 'shown', type: 'boolean', fallback: true }];

  it('is no markup in HTML: the elements are always those of the template', () => {
    const namesOf = (html: string) =>
      htmlTokens(html).flatMap(({ type, name }) => (type === 'text' ? [] : [`${type} ${name}`]));
    const expected = namesOf(filled({ body_html: page, variables }, { a: 'x' }).bodyHtml!);
    const nasty = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.stringMatching(/^[<>"'&=a-z /{}#^!-]{0,40}$/),
    );
    fc.assert(
      fc.property(nasty, (a) => {
        const html = filled({ body_html: page, variables }, { a }).bodyHtml!;
        expect(namesOf(html)).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('is verbatim in text, also where it looks like a tag', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (a) => {
        const { bodyText } = filled({ body_text: 'a: {{a}}.', variables }, { a });
        expect(bodyText).toBe(`a: ${a.replaceAll('\0', '')}.`);
      }),
      { numRuns: 500 },
    );
    const { bodyText, bodyHtml } = filled(
      { body_text: '{{a}}', body_html: '<p>{{a}}</p>', variables },
      { a: '{{shown}} <b>' },
    );
    expect([bodyText, bodyHtml]).toEqual(['{{shown}} <b>', '<p>{{shown}} &lt;b&gt;</p>']);
  });

  it('is one line in the subject', () => {
    const { subject } = filled(
      { subject: 'Hello {{a}}', body_text: '.', variables },
      { a: 'x\r\nBcc: everybody@victim.example\u2028y\u0000z' },
    );
    expect(subject).toBe('Hello x Bcc: everybody@victim.example yz');
  });

  it.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'java\nscript:alert(1)',
    ' javascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'javascript:alert(1)//https://a.example',
    '"><script>alert(1)</script>',
    "' onmouseover='alert(1)",
    '//evil.example',
  ])('is no script as the address %j', (url) => {
    const html =
      '<a href="{{a}}">x</a><img src="{{a}}"><p style="color:{{a}}" title=\'{{a}}\'>y</p>';
    const { bodyHtml } = filled({ body_html: html, variables }, { a: url });
    expect(bodyHtml).not.toMatch(/(?:href|src)="\s*(?:javascript|data|vbscript|\/\/)/i);
    expect(bodyHtml!.replace(/"[^"]*"/g, '""')).not.toMatch(/<[^>]*\son\w+=|<script/i);
    expect(() =>
      filled(
        { body_html: html, variables: [{ name: 'a', type: 'url' }, variables[1]] },
        { a: url },
      ),
    ).toThrow(/template_variables\.a must be an absolute address/);
  });

  it('cannot make the mail endless', () => {
    const list = Array.from({ length: 1000 }, () => 'x'.repeat(100));
    expect(() =>
      filled(
        {
          body_text: '{{#a}}{{#a}}{{#a}}{{.}}{{/a}}{{/a}}{{/a}}',
          variables: [{ name: 'a', type: 'list' }],
        },
        { a: list },
      ),
    ).toThrow(/body_text becomes longer than/);
    expect(() =>
      filled(
        {
          body_text: '{{#a}}{{#a}}{{#a}}{{/a}}{{/a}}{{/a}}',
          variables: [{ name: 'a', type: 'list' }],
        },
        { a: list },
      ),
    ).toThrow(/body_text becomes longer than/);
  });

  it('cannot keep the service busy with values that are empty', () => {
    const list = Array.from({ length: 1000 }, () => 0);
    const started = performance.now();
    expect(() =>
      filled(
        {
          body_text: `{{#a}}{{#a}}${'{{b}}'.repeat(4000)}{{/a}}{{/a}}`,
          variables: [{ name: 'a', type: 'list' }, text('b')],
        },
        { a: list },
      ),
    ).toThrow(/body_text becomes longer than/);
    const marks = `<p>dakTag${'X'.repeat(180_000)}{{b}}</p>`;
    expect(filled({ body_html: marks, variables: [text('b')] }, { b: 'y' }).bodyHtml).toContain(
      'Xy',
    );
    expect(performance.now() - started).toBeLessThan(4_000);
  });

  it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])(
    'is not taken from the inside of the program: %s',
    (name) => {
      const { bodyText } = filled(
        {
          body_text: `{{#items}}[{{${name}}}]{{/items}}`,
          variables: [{ name: 'items', type: 'list' }],
        },
        { items: [{ a: 1 }, 'x'] },
      );
      expect(bodyText).toBe('[][]');
    },
  );
});

describe('what is refused in a template', () => {
  it.each([
    ['{{{a}}}', /^body_html has the tag \{\{\{a\}\}\}, which would write a value unescaped/],
    ['{{& a}}', /^body_html has the tag \{\{& a\}\}, which would write a value unescaped/],
    ['{{> other}}', /^body_html has the tag \{\{> other\}\}: a template cannot include/],
    ['{{=<% %>=}}<% a %>', /^body_html has the tag .*: the delimiters of tags are always/],
    ['{{b}}', /^body_html has the tag \{\{b\}\}, but variables declares no b/],
    ['{{a.b}}', /^body_html has the tag \{\{a\.b\}\}, which names no variable/],
    ['{{.}}', /^body_html has the tag \{\{\.\}\}, which names no variable/],
    ['{{list}}', /^body_html has the tag \{\{list\}\}, but list is a list/],
    ['{{#a}}x', /^body_html has a tag that does not close or closes nothing/],
    ['x{{/a}}', /^body_html has a tag that does not close or closes nothing/],
    ['x {{a', /^body_html has a tag that does not close or closes nothing/],
    ['<script>{{a}}</script>', /^body_html has the tag \{\{a\}\} in a place that is taken out/],
    ['<p onclick="{{a}}">x</p>', /^body_html has the tag \{\{a\}\} in a place that is taken out/],
    ['<p {{#a}}title="x"{{/a}}>x</p>', /^body_html has the tag \{\{#a\}\} in a place/],
    ['<!-- {{a}} -->x', /^body_html has the tag \{\{a\}\} in a place that is taken out/],
    ['<style>{{#a}}p{}{{/a}}</style>x', /^body_html has the tag \{\{#a\}\} in a style sheet/],
  ])('%s', (body_html, sentence) => {
    const variables = [text('a'), { name: 'list', type: 'list' }];
    expect(() => saved({ body_html, variables })).toThrow(sentence);
  });

  it.each([
    [[{ name: '1a', type: 'string' }], /^variables\[0\]\.name must be/],
    [[{ name: 'a', type: 'code' }], /^variables\[0\]\.type must be one of/],
    [[text('a'), text('a')], /^variables\[1\]\.name repeats a/],
    [[{ name: 'a', type: 'number', fallback: 'x' }], /^variables\[0\]\.fallback must be a finite/],
    [[{ name: 'a', type: 'date', fallback: '2027-02-30' }], /fallback must be a date/],
    [[{ name: 'a', type: 'url', fallback: 'javascript:1' }], /fallback must be an absolute/],
  ])('variables %j', (variables, sentence) => {
    expect(() => saved({ body_text: 'x', variables })).toThrow(sentence);
  });

  it.each([
    ['values', '{{a}}'.repeat(40_000)],
    ['sections', '{{#a}}{{/a}}'.repeat(17_000)],
    ['nested sections', `${'{{#a}}'.repeat(17_000)}${'{{/a}}'.repeat(17_000)}`],
    ['beginnings of tags', '{{'.repeat(100_000)],
    ['style elements that do not end', '<style>'.repeat(28_000)],
    ['style elements', '<style>{{a}}</style>'.repeat(10_000)],
    ['beginnings of style elements', '<style '.repeat(28_000)],
    ['a rule for everything', `<style>*{${'a:b;'.repeat(15_000)}}</style>${'<b>'.repeat(40_000)}`],
    ['selectors', `<style>${'* * * * *{a:b}'.repeat(3_000)}</style>${'<p>x'.repeat(90)}`],
    ['nested elements', `<style>a>b c>d e{f:g}</style>${'<b>'.repeat(60_000)}`],
    ['comments', `<style>${'/*'.repeat(30_000)}</style>x`],
    ['at-rules', `<style>${'@a{'.repeat(20_000)}</style>x`],
    ['properties', `<p style="${'a:b;'.repeat(50_000)}"><style>p{c:d}</style>x`],
    ['attributes', `<style>p{c:d}</style><p ${'style=x '.repeat(25_000)}>x`],
  ])('or taken, but not for long: many %s', (_, body_html) => {
    const started = performance.now();
    try {
      filled({ body_html, variables: [text('a')] }, { a: 'x' });
    } catch (error) {
      expect(error).toMatchObject({
        kind: expect.stringMatching(/^(invalid|too_large)$/) as string,
      });
    }
    expect(performance.now() - started).toBeLessThan(4_000);
  });

  it('a style sheet that would take long', () => {
    const rules = Array.from({ length: 3000 }, (_, index) => `.c${index}{color:red}`).join('');
    const slow = `<style>${rules}</style>${'<p>x</p>'.repeat(3000)}`;
    expect(() => saved({ body_html: slow })).toThrow(/^body_html has a style sheet that is not/);
  });
});

describe('values', () => {
  const variables = [
    { name: 'n', type: 'number', required: true },
    { name: 'b', type: 'boolean' },
    { name: 'd', type: 'date', fallback: '2027-01-31' },
    text('s', { required: true, fallback: 'you' }),
  ];
  const body_text = '{{s}} {{n}} {{b}} {{d}}';

  it('have their fallback, and required ones without are named', () => {
    expect(filled({ body_text, variables })).toMatchObject({
      bodyText: 'you   2027-01-31',
      missing: ['n'],
    });
    expect(filled({ body_text, variables }, { n: 0.5, b: false, s: null }).bodyText).toBe(
      'you 0.5 false 2027-01-31',
    );
  });

  it.each([
    [{ n: '5' }, /template_variables\.n must be a finite number/],
    [{ b: 'true' }, /template_variables\.b must be true or false/],
    [{ d: '31.1.2027' }, /template_variables\.d must be a date/],
    [{ s: 5 }, /template_variables\.s must be a text/],
    [{ S: 'x' }, /template_variables\.S is no variable of this template, .*: n, b, d, s/],
  ])('%j are refused', (values, sentence) => {
    expect(() => filled({ body_text, variables }, values)).toThrow(sentence);
  });
});
