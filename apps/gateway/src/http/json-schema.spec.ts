import { z } from 'zod';
import { SchemaWriter } from './json-schema';

describe('schemas of the OpenAPI document', () => {
  it('become a component when they have a name, with references among them', () => {
    const writer = new SchemaWriter(false);
    const inner = z.object({ a: z.string() }).meta({ id: 'Inner' });
    const outer = z.object({ one: inner, more: z.array(inner) }).meta({ id: 'Outer' });
    expect(writer.write(outer, 'output')).toEqual({ $ref: '#/components/schemas/Outer' });
    expect(writer.components['Outer']).toMatchObject({
      properties: {
        one: { $ref: '#/components/schemas/Inner' },
        more: { items: { $ref: '#/components/schemas/Inner' } },
      },
    });
    expect(writer.resolve({ $ref: '#/components/schemas/Inner' })).toMatchObject({
      properties: { a: { type: 'string' } },
    });
  });

  it('become two where they read and write differently', () => {
    const writer = new SchemaWriter(false);
    const shape = z.object({ a: z.string().default('x') }).meta({ id: 'Thing' });
    writer.write(shape, 'output');
    expect(writer.write(shape, 'input')).toEqual({ $ref: '#/components/schemas/ThingInput' });
    expect(writer.components['Thing']).toMatchObject({ required: ['a'] });
    expect(writer.components['ThingInput']).not.toHaveProperty('required');
  });

  it('leave replies open for members of later versions, except in tests', () => {
    const shape = z.strictObject({ a: z.string() });
    expect(new SchemaWriter(false).write(shape, 'output')).not.toHaveProperty(
      'additionalProperties',
    );
    expect(new SchemaWriter(true).write(shape, 'output')).toMatchObject({
      additionalProperties: false,
    });
    expect(new SchemaWriter(false).write(shape, 'input')).toMatchObject({
      additionalProperties: false,
    });
  });

  it('say no more than is meant: no bounds of a double, no pattern beside a format', () => {
    const writer = new SchemaWriter(false);
    expect(writer.write(z.int(), 'input')).toEqual({ type: 'integer' });
    expect(writer.write(z.uuid(), 'input')).toEqual({ type: 'string', format: 'uuid' });
    expect(writer.write(z.string().regex(/^a/), 'input')).toEqual({
      type: 'string',
      pattern: '^a',
    });
  });
});
