import { resolve, SchemaComparison, type Schema } from './compare-schemas';

type Items = Readonly<Record<string, Schema>>;

/** What an OpenAPI document breaks of its former version, one sentence each. Additions break nothing. */
export function documentBreaks(former: Schema, current: Schema): string[] {
  const schemas = new SchemaComparison(former, current);
  const found: string[] = [];
  const pairs = (value: unknown) => Object.entries((value ?? {}) as Items);
  for (const [path, item] of pairs(former['paths'])) {
    for (const [method, operation] of pairs(item)) {
      if (method === 'servers') continue;
      const place = `${method.toUpperCase()} ${path}`;
      const now = ((current['paths'] as Items)[path]?.[method] ?? null) as Schema | null;
      if (now === null) found.push(`${place} is gone`);
      else found.push(...operationBreaks(operation, now, place));
    }
  }
  return found;

  function operationBreaks(was: Schema, is: Schema, place: string): string[] {
    return [
      ...(was['operationId'] === is['operationId'] ? [] : [`${place} has another operationId`]),
      ...rightBreaks(was, is, place),
      ...parameterBreaks(was, is, place),
      ...bodyBreaks(was['requestBody'], is['requestBody'], place),
      ...pairs(was['responses']).flatMap(([status, reply]) => {
        const now = (is['responses'] as Items)[status];
        return now === undefined
          ? [`${place} has no reply ${status}`]
          : replyBreaks(resolve(former, reply), resolve(current, now), `${place} ${status}`);
      }),
    ];
  }

  function parameterBreaks(was: Schema, is: Schema, place: string): string[] {
    const before = parametersOf(was);
    const now = parametersOf(is);
    const gone = [...before.keys()].filter((key) => !now.has(key));
    const needed = [...now].filter(([key, { required }]) => required && !before.get(key)?.required);
    return [
      ...gone.map((key) => `${place}: ${key} is gone`),
      ...needed.map(([key]) => `${place}: ${key} is required`),
      ...[...before].flatMap(([key, { schema }]) =>
        now.has(key)
          ? schemas.breaks(schema, now.get(key)!.schema, 'request', `${place}: ${key}`)
          : [],
      ),
    ];
  }

  function bodyBreaks(was: unknown, is: unknown, place: string): string[] {
    if (is === undefined) return was === undefined ? [] : [`${place} takes no body`];
    const body = is as Schema;
    const before = (was ?? {}) as Schema;
    return [
      ...(body['required'] === true && before['required'] !== true
        ? [`${place} needs a body`]
        : []),
      ...contentBreaks(before, body, 'request', `${place} body`),
    ];
  }

  function replyBreaks(was: Schema, is: Schema, place: string): string[] {
    const headers = (is['headers'] ?? {}) as Schema;
    return [
      ...pairs(was['headers'])
        .filter(([name]) => !Object.hasOwn(headers, name))
        .map(([name]) => `${place} has no ${name}`),
      ...contentBreaks(was, is, 'response', place),
    ];
  }

  function contentBreaks(
    was: Schema,
    is: Schema,
    direction: 'request' | 'response',
    place: string,
  ): string[] {
    const now = (is['content'] ?? {}) as Items;
    return pairs(was['content']).flatMap(([type, { schema }]) =>
      now[type] === undefined
        ? [`${place} is not ${type}`]
        : schemas.breaks(schema, now[type]['schema'], direction, place),
    );
  }
}

interface Parameter {
  readonly required: boolean;
  readonly schema: unknown;
}

function parametersOf(operation: Schema): Map<string, Parameter> {
  const list = (operation['parameters'] ?? []) as (Parameter & { in: string; name: string })[];
  return new Map(list.map((one) => [`${one.in} ${one.name}`, one]));
}

/** Whoever could call an operation still can. */
function rightBreaks(was: Schema, is: Schema, place: string): string[] {
  const needsScope = was['x-scopes'] === undefined && is['x-scopes'] !== undefined;
  const hasScopes = is['x-scopes'] !== undefined;
  return [
    ...without(credentialsOf(was), credentialsOf(is)).map((one) => `${place} refuses ${one}`),
    ...(needsScope ? [`${place} needs a scope`] : []),
    ...(hasScopes ? without(was['x-scopes'], is['x-scopes']) : []).map(
      (scope) => `${place} is not for ${scope}`,
    ),
    ...without(is['x-scopes-also'], was['x-scopes-also']).map(
      (scope) => `${place} needs ${scope} also`,
    ),
    ...['x-role', 'x-mailbox-access']
      .filter((key) => is[key] !== undefined && is[key] !== was[key])
      .map((key) => `${place} needs another ${key}`),
    ...without(was['x-emits'], is['x-emits']).map((kind) => `${place} does not emit ${kind}`),
  ];
}

const CREDENTIALS = ['apiKey', 'apiKeyHeader', 'session'];

function credentialsOf({ security }: Schema): string[] {
  if (security === undefined) return CREDENTIALS;
  const names = (security as Schema[]).flatMap((one) => Object.keys(one));
  return names.length === 0 ? [...CREDENTIALS, 'no credential'] : names;
}

function without(items: unknown, others: unknown): string[] {
  const list = (value: unknown) => (value ?? []) as string[];
  return list(items).filter((one) => !list(others).includes(one));
}
