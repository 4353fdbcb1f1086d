import { TemplateContent } from '../../mail';
import { messageOf, parseRequest, requestOf } from '../../requests';
import { TEMPLATE_LIMITS } from './template-limits';
import { CreateTemplate, UpdateTemplate } from './template-requests';

const { template_body_bytes: MAX_BODY } = TEMPLATE_LIMITS;

it('fills in what a new template leaves out, and a patch not', () => {
  expect(parseRequest(CreateTemplate, { name: ' Welcome ', body_text: ' ' })).toEqual({
    name: 'Welcome',
    alias: null,
    subject: '',
    body_text: null,
    body_html: null,
    variables: [],
  });
  expect(parseRequest(UpdateTemplate, { alias: null })).toEqual({ alias: null });
});

it('is the same on the other side of its message, also that of a process that fills in nothing', () => {
  const sent = parseRequest(CreateTemplate, {
    name: 'Welcome',
    subject: 'Hello {{name}} ',
    body_html: '<p>x</p>',
    variables: [{ name: 'name', type: 'string', fallback: 'you\0' }],
  });
  const { description, required, fallback } = sent.variables[0]!;
  expect([description, required, fallback]).toEqual(['', false, 'you']);
  const message = messageOf(TemplateContent, sent);
  expect(parseRequest(CreateTemplate, requestOf(message))).toEqual(sent);
  const bare = TemplateContent.fromPartial({ name: 'Welcome', bodyHtml: '<p>x</p>' });
  expect(parseRequest(CreateTemplate, requestOf(bare))).toMatchObject({ alias: null, subject: '' });
});

it.each([
  [{ name: '' }, 'invalid_request', 'name must not be empty'],
  [{ name: 'x'.repeat(201) }, 'invalid_request', 'name must have at most 200'],
  [{ name: 'a\nb' }, 'invalid_request', 'name must be one line'],
  [{ alias: 'Welcome' }, 'invalid_request', 'alias must be 1 to 63 lower-case'],
  [{ alias: '' }, 'invalid_request', 'alias must be 1 to 63 lower-case'],
  [{ subject: 'a\r\nBcc: x@y.example' }, 'invalid_characters', 'subject must not contain line'],
  [{ subject: 'a\n' }, 'invalid_characters', 'subject must not contain line'],
  [{ subject: 'a'.repeat(999) }, 'invalid_request', 'subject must not be longer than 998'],
  [
    { body_text: 'ä'.repeat(MAX_BODY / 2 + 1) },
    'template_too_large',
    'body_text must not be larger',
  ],
  [{ body_html: 'a'.repeat(MAX_BODY + 1) }, 'template_too_large', 'body_html must not be larger'],
  [{ variables: {} }, 'invalid_request', 'variables must be an array'],
  [{ variables: Array.from({ length: 101 }, () => ({})) }, 'invalid_request', 'variables'],
  [{ variables: ['name'] }, 'invalid_request', 'variables[0] must be an object'],
  [{ variables: [{ name: '1a', type: 'url' }] }, 'invalid_request', 'variables[0].name must be 1'],
  [
    { variables: [{ name: 'a', type: 'x' }] },
    'invalid_request',
    'variables[0].type must be one of',
  ],
])('refuses %j with the code %s', (fields, code, sentence) => {
  const refusal = expect.objectContaining({
    code,
    message: expect.stringContaining(sentence) as string,
  }) as Error;
  const sent = { name: 'Welcome', body_text: 'x', ...fields };
  expect(() => parseRequest(CreateTemplate, sent)).toThrow(refusal);
  expect(() => parseRequest(UpdateTemplate, fields)).toThrow(refusal);
});

const item = { a: 1 };
it.each([
  ['string', 'x'.repeat(65_537), 'must be a text of at most'],
  ['string', 5, 'must be a text'],
  ['number', '5', 'must be a finite number'],
  ['boolean', 'true', 'must be true or false'],
  ['date', '2027-02-30', 'must be a date'],
  ['date', '31.1.2027', 'must be a date'],
  ['url', 'javascript:alert(1)', 'must be an absolute address'],
  ['url', 'https://a.example/ x', 'must be an absolute address'],
  ['list', 'x', 'must be an array'],
  ['list', Array.from({ length: 1001 }, () => 1), 'must be an array'],
  ['list', [{ a: item }], 'must be an array'],
  ['list', [{ '1a': 1 }], 'must be an array'],
  ['list', [Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`a${i}`, 1]))], 'must be an'],
])('a variable of the type %s has no fallback %j', (type, fallback, sentence) => {
  const variables = [{ name: 'a', type, fallback }];
  expect(() => parseRequest(UpdateTemplate, { variables })).toThrow(
    `variables[0].fallback ${sentence}`,
  );
});

it.each([
  ['date', '2027-02-28T09:00:00+05:30'],
  ['url', 'mailto:a@b.example'],
  ['list', ['x', 1, null, true, { name: 'Lamp', price: 5 }]],
])('a variable of the type %s may have the fallback %j', (type, fallback) => {
  const variables = [{ name: 'a', type, fallback }];
  expect(parseRequest(UpdateTemplate, { variables }).variables).toEqual([
    expect.objectContaining({ fallback }),
  ]);
});

it('declares a variable once', () => {
  const variables = ['a', 'b', 'a'].map((name) => ({ name, type: 'string' }));
  expect(() => parseRequest(UpdateTemplate, { variables })).toThrow(
    'variables[2].name repeats a. Declare it once.',
  );
});
