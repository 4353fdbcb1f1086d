import { isDeepStrictEqual } from 'node:util';

export type Schema = Readonly<Record<string, unknown>>;

/** `request`: what clients send must go on being accepted. `response`: what they read must go on being there. */
export type Direction = 'request' | 'response';

const UPPER_LIMITS = ['maxLength', 'maxItems', 'maximum', 'exclusiveMaximum', 'maxProperties'];
const LOWER_LIMITS = ['minLength', 'minItems', 'minimum', 'exclusiveMinimum', 'minProperties'];
/** Compared by rules of their own below; any other keyword must stay as it is. */
const RULED = new Set([
  ...['type', 'enum', 'const', 'properties', 'required', 'additionalProperties', 'propertyNames'],
  ...['items', 'format', 'pattern', ...UPPER_LIMITS, ...LOWER_LIMITS],
]);
const TEXTS = new Set(['description', 'title', 'example', 'examples', 'id', '$schema']);

/** Finds what a schema breaks of its former version. References are followed in the document of each. */
export class SchemaComparison {
  readonly #former: Schema;
  readonly #current: Schema;
  readonly #open = new Set<string>();

  constructor(former: Schema, current: Schema) {
    this.#former = former;
    this.#current = current;
  }

  /** @returns one sentence for each break, which begins with `place` */
  breaks(former: unknown, current: unknown, direction: Direction, place: string): string[] {
    const pair = `${direction} ${refOf(former)} ${refOf(current)}`;
    const isReferred = refOf(former) !== undefined && refOf(current) !== undefined;
    if (isReferred && this.#open.has(pair)) return [];
    if (isReferred) this.#open.add(pair);
    const found = this.#ofAlternatives(
      alternatives(this.#former, former),
      alternatives(this.#current, current),
      direction,
      place,
    );
    if (isReferred) this.#open.delete(pair);
    return found;
  }

  #ofAlternatives(
    former: readonly Schema[],
    current: readonly Schema[],
    direction: Direction,
    place: string,
  ): string[] {
    const found = former
      .filter((one) => direction === 'request' || one['type'] !== 'null')
      .flatMap((one) => {
        const tries = current.map((other) => this.#ofOne(one, other, direction, place));
        return tries.reduce((best, next) => (next.length < best.length ? next : best));
      });
    if (direction === 'request' || found.length > 0) return [...new Set(found)];
    // A record of another shape beside others is an addition; another type is not.
    const types = new Set(former.map(({ type }) => type));
    const added = current.filter(({ type }) => !types.has(type) && !isWidened(types, type));
    const news = added.map(
      ({ type }) => `${place} can be ${typeof type === 'string' ? type : 'anything'}`,
    );
    return [...new Set(news)];
  }

  #ofOne(former: Schema, current: Schema, direction: Direction, place: string): string[] {
    if (!hasSameType(former, current, direction))
      return [`${place} is ${String(current['type'])}, was ${String(former['type'])}`];
    const changed = [...new Set([...Object.keys(former), ...Object.keys(current)])]
      .filter((key) => !RULED.has(key) && !TEXTS.has(key))
      // A default that is documented now, or wrongly was in a patch, changes nothing.
      .filter((key) => key !== 'default' || (key in former && key in current))
      .filter((key) => !isDeepStrictEqual(former[key], current[key]))
      .map((key) => `${place}: ${key} changed`);
    return [
      ...changed,
      ...values(former, current, direction, place),
      ...(direction === 'request' ? limits(former, current, place) : []),
      ...forms(former, current, direction, place),
      ...this.#members(former, current, direction, place),
    ];
  }

  #members(former: Schema, current: Schema, direction: Direction, place: string): string[] {
    const found: string[] = [];
    const before = membersOf(former);
    const now = membersOf(current);
    for (const [name, schema] of Object.entries(before)) {
      const inside = `${place}.${name}`;
      if (Object.hasOwn(now, name))
        found.push(...this.breaks(schema, now[name], direction, inside));
      else found.push(`${inside} is gone`);
    }
    const wasRequired = requiredOf(former);
    const isRequired = requiredOf(current);
    if (direction === 'request') {
      for (const name of isRequired.filter((one) => !wasRequired.includes(one)))
        found.push(`${place}.${name} is required`);
      if (former['additionalProperties'] !== false && current['additionalProperties'] === false)
        found.push(`${place} refuses other members`);
    } else {
      for (const name of wasRequired.filter((one) => !isRequired.includes(one)))
        found.push(`${place}.${name} can be absent`);
    }
    for (const key of ['additionalProperties', 'propertyNames', 'items']) {
      const inside = key === 'items' ? `${place}[]` : `${place}.*`;
      if (typeof former[key] === 'object' && typeof current[key] === 'object')
        found.push(...this.breaks(former[key], current[key], direction, inside));
      else if (typeof current[key] === 'object' && direction === 'request')
        found.push(`${inside} is restricted`);
      else if (typeof former[key] === 'object' && direction === 'response')
        found.push(`${inside} can be anything`);
    }
    return found;
  }
}

/** The schema that a reference stands for, or itself. */
export function resolve(document: Schema, value: unknown): Schema {
  const path = refOf(value);
  if (path === undefined) return value as Schema;
  const target = path
    .slice(2)
    .split('/')
    .reduce<unknown>((at, name) => (at as Schema)[name], document);
  return resolve(document, target);
}

function refOf(value: unknown): string | undefined {
  return (value as { $ref?: string }).$ref;
}

function alternatives(document: Schema, value: unknown): Schema[] {
  const schema = resolve(document, value);
  const choices = (schema['anyOf'] ?? schema['oneOf']) as unknown[] | undefined;
  if (choices !== undefined) return choices.flatMap((one) => alternatives(document, one));
  const { type } = schema;
  return Array.isArray(type) ? type.map((one: unknown) => ({ ...schema, type: one })) : [schema];
}

function hasSameType(former: Schema, current: Schema, direction: Direction): boolean {
  const [was, is] = [former['type'], current['type']];
  if (was === is) return true;
  return direction === 'request'
    ? is === undefined || (was === 'integer' && is === 'number')
    : was === undefined || (was === 'number' && is === 'integer');
}

function isWidened(types: ReadonlySet<unknown>, type: unknown): boolean {
  return types.has(undefined) || (type === 'integer' && types.has('number'));
}

function values(former: Schema, current: Schema, direction: Direction, place: string): string[] {
  const before = valuesOf(former);
  const now = valuesOf(current);
  if (now === null) return [];
  if (before === null) return direction === 'request' ? [`${place} has an enum`] : [];
  // A reply need not show each value again, but a member that tells what a record is must.
  if (direction === 'response' && former['const'] === undefined) return [];
  return before
    .filter((value) => !now.includes(value))
    .map((value) => `${place} cannot be ${JSON.stringify(value)}`);
}

function valuesOf(schema: Schema): unknown[] | null {
  if (schema['const'] !== undefined) return [schema['const']];
  return (schema['enum'] as unknown[] | undefined) ?? null;
}

function limits(former: Schema, current: Schema, place: string): string[] {
  const tighter = (key: string, sign: 1 | -1): boolean => {
    const is = current[key] as number | undefined;
    const was = former[key] as number | undefined;
    return is !== undefined && (was === undefined || sign * is < sign * was);
  };
  return [
    ...UPPER_LIMITS.filter((key) => tighter(key, 1)),
    ...LOWER_LIMITS.filter((key) => tighter(key, -1)),
  ].map((key) => `${place}: ${key} is tighter`);
}

/** A request may lose its form, a reply may gain one. */
function forms(former: Schema, current: Schema, direction: Direction, place: string): string[] {
  const free = direction === 'request' ? current : former;
  return ['format', 'pattern']
    .filter((key) => free[key] !== undefined && former[key] !== current[key])
    .map((key) => `${place}: ${key} changed`);
}

function membersOf(schema: Schema): Record<string, unknown> {
  return (schema['properties'] ?? {}) as Record<string, unknown>;
}

function requiredOf(schema: Schema): string[] {
  return (schema['required'] ?? []) as string[];
}
