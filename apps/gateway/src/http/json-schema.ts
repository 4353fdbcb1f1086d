import { z } from 'zod';

export type JsonSchema = Record<string, unknown>;

/**
 * Turns zod schemas into JSON Schema 2020-12 for one OpenAPI document. A schema that has a name
 * (`.meta({id})`) becomes a component and is referred to; one that reads and writes differently
 * becomes two, the request's with the suffix `Input`.
 */
export class SchemaWriter {
  readonly components: Record<string, JsonSchema> = {};

  /** @param closeObjects refuses members that a reply's schema does not name (for tests) */
  constructor(private readonly closeObjects: boolean) {}

  write(schema: z.ZodType, direction: 'input' | 'output'): JsonSchema {
    const { $defs, ...root } = z.toJSONSchema(schema, {
      io: direction,
      unrepresentable: 'any',
      override: ({ jsonSchema }) => this.tidy(jsonSchema as JsonSchema, direction),
    }) as JsonSchema & { $defs?: Record<string, JsonSchema> };
    delete root['$schema'];
    const renamed: Record<string, string> = {};
    for (const [name, definition] of Object.entries($defs ?? {})) {
      renamed[name] = this.place(name, definition, direction);
    }
    for (const name of Object.values(renamed)) redirect(this.components[name]!, renamed);
    return redirect(root, renamed) as JsonSchema;
  }

  /** The component that a schema refers to, or itself. */
  resolve(schema: JsonSchema): JsonSchema {
    const name = /^#\/components\/schemas\/(.+)$/.exec(String(schema['$ref']))?.[1];
    return name === undefined ? schema : this.components[name]!;
  }

  private place(name: string, definition: JsonSchema, direction: 'input' | 'output'): string {
    delete definition['id'];
    const present = this.components[name];
    if (present === undefined || sameShape(present, definition)) {
      this.components[name] ??= definition;
      return name;
    }
    const suffixed = `${name}${direction === 'input' ? 'Input' : 'Output'}`;
    this.components[suffixed] ??= definition;
    return suffixed;
  }

  private tidy(schema: JsonSchema, direction: 'input' | 'output'): void {
    // Clients must not break on a member that is added later; only tests are that strict.
    if (schema['additionalProperties'] === false && direction === 'output' && !this.closeObjects) {
      delete schema['additionalProperties'];
    }
    if (schema['maximum'] === Number.MAX_SAFE_INTEGER) delete schema['maximum'];
    if (schema['minimum'] === Number.MIN_SAFE_INTEGER) delete schema['minimum'];
    // `format` says it; the pattern behind it is hundreds of characters long.
    if (schema['format'] !== undefined && schema['pattern'] !== undefined) delete schema['pattern'];
    if (schema['type'] !== 'string') delete schema['pattern'];
  }
}

function redirect(value: unknown, renamed: Readonly<Record<string, string>>): unknown {
  if (Array.isArray(value)) {
    for (const member of value) redirect(member, renamed);
  } else if (typeof value === 'object' && value !== null) {
    const object = value as JsonSchema;
    const reference = object['$ref'];
    if (typeof reference === 'string' && reference.startsWith('#/$defs/')) {
      const name = reference.slice('#/$defs/'.length);
      object['$ref'] = `#/components/schemas/${renamed[name] ?? name}`;
    }
    for (const member of Object.values(object)) redirect(member, renamed);
  }
  return value;
}

/** Equal but for where their references point to. */
function sameShape(a: JsonSchema, b: JsonSchema): boolean {
  const text = (schema: JsonSchema): string =>
    JSON.stringify(schema).replaceAll('#/components/schemas/', '#/$defs/');
  return text(a) === text(b);
}
