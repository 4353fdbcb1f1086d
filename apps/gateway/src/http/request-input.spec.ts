import { z } from 'zod';
import { compileInput } from './request-input';
import type { Route } from './route';
import { idParams, pageFields, queryBoolean, queryInteger } from './query-fields';

const inputOf = (request: Route['request'], unknownFields: 'refuse' | 'ignore' = 'refuse') =>
  compileInput({ request, unknownFields } as Route);

describe('the query of a request', () => {
  const query = z.object({ q: z.string().optional(), n: queryInteger(1, 10).optional() });
  const parse = (text: string) => inputOf({ query }).query(text);

  it('is decoded: plus is a space, and percent-encoding is UTF-8', () => {
    expect(parse('q=a+b%2Bc%C3%A4')).toEqual({ q: 'a b+cä' });
    expect(parse('q=1=2&&n=3')).toEqual({ q: '1=2', n: 3 });
    expect(parse('q')).toEqual({ q: '' });
    expect(parse('')).toEqual({});
  });

  it.each([
    ['broken percent-encoding', 'q=%E4', /broken percent-encoding/],
    ['a NUL', 'q=%00', /NUL/],
    ['a field twice', 'q=a&q=b', /q/],
    ['a number that is none', 'n=1e3', /must be an integer from 1 to 10/],
    ['a number beyond its bounds', 'n=11', /must be an integer from 1 to 10/],
  ])('is refused for %s', (_, text, sentence) => {
    expect(() => parse(text)).toThrow(sentence);
  });

  it('gives each request an object of its own', () => {
    const input = inputOf({ query });
    (input.query('') as Record<string, unknown>)['q'] = 'changed';
    expect(input.query('')).toEqual({});
  });

  it('knows no names but its own', () => {
    const parsed = parse('__proto__=x&q=y') as Record<string, unknown>;
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
    expect(parsed['q']).toBe('y');
  });
});

describe('pages, numbers and booleans of a query', () => {
  const page = z.object(pageFields);

  it.each(['0', '-1', '1.5', ' 1', '0x1', '1e1', '', '10000001'])('refuse page=%p', (text) => {
    expect(page.safeParse({ page: text }).success).toBe(false);
  });

  it.each([
    ['1', 1],
    ['007', 7],
    ['10000000', 10_000_000],
  ])('take page=%p', (text, value) => {
    expect(page.parse({ page: text })).toEqual({ page: value });
  });

  it('are true or false, in these words', () => {
    expect([queryBoolean().parse('true'), queryBoolean().parse('false')]).toEqual([true, false]);
    for (const text of ['1', 'True', 'yes', '', 'true\n'])
      expect(queryBoolean().safeParse(text).success).toBe(false);
  });
});

describe('the path of a request', () => {
  it('misses when an id is none: nothing can be there', () => {
    const input = inputOf({ params: idParams });
    const id = '0199c2a4-6d3e-7c11-9a55-2f60b1d0a00b';
    expect(input.params(['id'], [id])).toEqual({ id });
    for (const text of ['1', `${id}x`, '%41', '..%2F'])
      expect(() => input.params(['id'], [text])).toThrow(
        expect.objectContaining({ kind: 'not_found' }),
      );
  });

  it('is refused with broken percent-encoding or a NUL', () => {
    const input = inputOf({ params: z.object({ name: z.string() }) });
    for (const text of ['%', '%ff', 'a%00'])
      expect(() => input.params(['name'], [text])).toThrow(
        expect.objectContaining({ kind: 'invalid' }),
      );
  });
});

describe('the body of a request', () => {
  const body = z.object({ name: z.string() });

  it('is asked for when it is missing', () => {
    expect(() => inputOf({ body }).body(undefined)).toThrow('The request body is missing');
    expect(inputOf({ body: body.optional() }).body(undefined)).toBeUndefined();
  });

  it('has no unknown members where the route refuses them', () => {
    const sent = { name: 'a', nmae: 'b' };
    expect(() => inputOf({ body }).body(sent)).toThrow(/nmae/);
    expect(inputOf({ body }, 'ignore').body(sent)).toEqual({ name: 'a' });
  });

  it('is not looked at where the route takes none', () => {
    expect(inputOf({}).body({ name: 1 })).toBeUndefined();
  });
});
