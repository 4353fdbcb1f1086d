import { SchemaComparison, type Direction, type Schema } from './compare-schemas';

const text = { type: 'string' };
const nothing = { type: 'null' };
const record = (properties: Schema, required: string[] = []) => ({
  type: 'object',
  properties,
  required,
});
const variant = (kind: string) => record({ kind: { const: kind } }, ['kind']);

const breaks = (former: Schema, current: Schema, direction: Direction) =>
  new SchemaComparison({}, {}).breaks(former, current, direction, 'it');

const TIGHTER: [what: string, former: Schema, current: Schema][] = [
  ['a member is gone', record({ name: text }), record({})],
  ['a member is newly required', record({}), record({ name: text }, ['name'])],
  ['other members are refused', record({}), { ...record({}), additionalProperties: false }],
  ['the type changes', text, { type: 'integer' }],
  ['a number must be whole', { type: 'number' }, { type: 'integer' }],
  ['what could be anything has a type', {}, text],
  ['null is refused', { anyOf: [text, nothing] }, text],
  ['a list of types loses one', { type: ['string', 'null'] }, text],
  ['a value of an enum is gone', { ...text, enum: ['a', 'b'] }, { ...text, enum: ['a'] }],
  ['an enum appears', text, { ...text, enum: ['a'] }],
  ['a variant is gone', { anyOf: [variant('a'), variant('b')] }, { anyOf: [variant('a')] }],
  ['fewer characters are allowed', { ...text, maxLength: 10 }, { ...text, maxLength: 9 }],
  ['more characters are needed', text, { ...text, minLength: 1 }],
  ['fewer items are allowed', { type: 'array' }, { type: 'array', maxItems: 50 }],
  ['more items are needed', { type: 'array', minItems: 1 }, { type: 'array', minItems: 2 }],
  ['the largest number falls', { type: 'integer', maximum: 9 }, { type: 'integer', maximum: 8 }],
  ['the smallest number rises', { type: 'integer', minimum: 0 }, { type: 'integer', minimum: 1 }],
  ['a pattern appears', text, { ...text, pattern: '^a' }],
  ['a format changes', { ...text, format: 'uuid' }, { ...text, format: 'email' }],
  ['a default changes', { ...text, default: 'a' }, { ...text, default: 'b' }],
  ['items change', { type: 'array', items: text }, { type: 'array', items: { type: 'integer' } }],
  [
    'the values of a map change',
    { ...record({}), additionalProperties: text },
    { ...record({}), additionalProperties: nothing },
  ],
  ['a keyword without a rule changes', text, { ...text, contentEncoding: 'base64' }],
];

const WIDER: [what: string, former: Schema, current: Schema][] = [
  ['an optional member is added', record({}), record({ name: text })],
  ['a member is no longer required', record({ name: text }, ['name']), record({ name: text })],
  ['null is accepted', text, { anyOf: [text, nothing] }],
  ['a number need not be whole', { type: 'integer' }, { type: 'number' }],
  ['an enum grows', { ...text, enum: ['a'] }, { ...text, enum: ['a', 'b'] }],
  ['an enum goes', { ...text, enum: ['a'] }, text],
  ['a limit is raised', { ...text, maxLength: 9 }, { ...text, maxLength: 10 }],
  ['a limit goes', { ...text, maxLength: 9 }, text],
  ['a format goes', { ...text, format: 'uuid' }, text],
  ['a default appears', text, { ...text, default: 'a' }],
  ['a variant is added', variant('a'), { anyOf: [variant('a'), variant('b')] }],
  ['its description changes', { ...text, description: 'a' }, { ...text, description: 'b' }],
];

describe('a request', () => {
  it.each(TIGHTER)('breaks when %s', (_, former, current) => {
    expect(breaks(former, current, 'request')).toHaveLength(1);
  });

  it.each(WIDER)('does not break when %s', (_, former, current) => {
    expect(breaks(former, current, 'request')).toEqual([]);
  });
});

const LESS: typeof TIGHTER = [
  ['a member is gone', record({ name: text }), record({})],
  ['a member can be absent', record({ name: text }, ['name']), record({ name: text })],
  ['it can be null', text, { anyOf: [text, nothing] }],
  ['it can be anything', text, {}],
  ['the type changes', text, { type: 'integer' }],
  ['a number need not be whole', { type: 'integer' }, { type: 'number' }],
  ['another type is possible', text, { anyOf: [text, { type: 'integer' }] }],
  ['a variant is gone', { anyOf: [variant('a'), variant('b')] }, variant('a')],
  ['what tells the kind changes', variant('a'), variant('b')],
  ['its format changes', { ...text, format: 'date-time' }, text],
  [
    'the values of a map can be anything',
    { ...record({}), additionalProperties: text },
    record({}),
  ],
  ['items change', { type: 'array', items: text }, { type: 'array', items: nothing }],
];

const MORE: typeof TIGHTER = [
  ['a member is added', record({}), record({ name: text }, ['name'])],
  ['a member is always there', record({ name: text }), record({ name: text }, ['name'])],
  ['it is never null', { anyOf: [text, nothing] }, text],
  ['an enum grows', { ...text, enum: ['a'] }, { ...text, enum: ['a', 'b'] }],
  ['a default appears', text, { ...text, default: 'a' }],
  ['a variant is added', variant('a'), { anyOf: [variant('a'), variant('b')] }],
  ['a limit changes', { ...text, maxLength: 9 }, { ...text, maxLength: 10 }],
];

describe('a response', () => {
  it.each(LESS)('breaks when %s', (_, former, current) => {
    expect(breaks(former, current, 'response')).toHaveLength(1);
  });

  it.each(MORE)('does not break when %s', (_, former, current) => {
    expect(breaks(former, current, 'response')).toEqual([]);
  });
});

describe('a break', () => {
  it('is named by its place, however deep', () => {
    const list = (item: Schema) => record({ data: { type: 'array', items: record({ item }) } });
    const former = list(record({ id: text, name: text }));
    expect(breaks(former, list(record({ id: text })), 'response')).toEqual([
      'it.data[].item.name is gone',
    ]);
  });

  it('is found behind references, each followed in its own document, also in circles', () => {
    const tree = (members: Schema) => ({
      components: { schemas: { Tree: record({ next: { $ref }, ...members }) } },
    });
    const $ref = '#/components/schemas/Tree';
    const schemas = new SchemaComparison(tree({ name: text }), tree({}));
    expect(schemas.breaks({ $ref }, { $ref }, 'response', 'Tree')).toEqual(['Tree.name is gone']);
  });
});
