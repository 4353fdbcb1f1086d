import { z } from 'zod';
import { describeIssue, parseRequest } from '@dak/contracts/requests';
import { DomainError, InvalidError } from '@dak/kernel';
import type { Route } from './route';

type QueryValues = Record<string, string | string[]>;

/** A route's request schemas, prepared once; absent parts cost nothing. */
export interface InputParser {
  params(names: readonly string[], values: readonly string[]): unknown;
  /** @param text after the question mark, or empty */
  query(text: string): unknown;
  body(value: unknown): unknown;
}

const NOTHING = Object.freeze({});

export function compileInput(route: Route): InputParser {
  const { params, query } = route.request;
  const body = route.request.body === undefined ? undefined : bodySchema(route);
  const emptyQuery = query?.safeParse({});
  return {
    params: (names, values) => parseParams(params, names, values),
    query: (text) => {
      if (query === undefined) return NOTHING;
      if (text === '' && emptyQuery?.success === true) return { ...(emptyQuery.data as object) };
      return parseRequest(query, parseQuery(text), 'the query');
    },
    body: (value) => {
      if (body === undefined) return undefined;
      if (value === undefined && !body.safeParse(undefined).success) {
        throw new InvalidError('The request body is missing: send a JSON object.');
      }
      return parseRequest(body, value, 'the body');
    },
  };
}

function bodySchema(route: Route): z.ZodType {
  const schema = route.request.body!;
  return route.unknownFields === 'refuse' && schema instanceof z.ZodObject
    ? schema.strict()
    : schema;
}

/** A value that fits no record's id is a miss like any other: no record can be there. */
function parseParams(
  schema: z.ZodType | undefined,
  names: readonly string[],
  values: readonly string[],
): unknown {
  if (names.length === 0) return NOTHING;
  const params: Record<string, string> = {};
  for (let i = 0; i < names.length; i += 1) params[names[i]!] = decode(values[i]!, 'path');
  if (schema === undefined) return params;
  const result = schema.safeParse(params, { reportInput: true });
  if (result.success) return result.data;
  throw new DomainError(
    'not_found',
    'not_found',
    `Nothing is at this path: ${describeIssue(result.error.issues[0]!, 'the path')}`,
  );
}

/** @throws InvalidError for broken percent-encoding or a NUL, which no text of Dak may hold */
function parseQuery(text: string): QueryValues {
  const values: QueryValues = Object.create(null) as QueryValues;
  if (text === '') return values;
  for (const part of text.split('&')) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const name = decode((equals < 0 ? part : part.slice(0, equals)).replaceAll('+', ' '), 'query');
    const value = equals < 0 ? '' : decode(part.slice(equals + 1).replaceAll('+', ' '), 'query');
    const present = values[name];
    if (present === undefined) values[name] = value;
    else if (Array.isArray(present)) present.push(value);
    else values[name] = [present, value];
  }
  return values;
}

function decode(text: string, where: 'path' | 'query'): string {
  if (!text.includes('%')) return text;
  let decoded: string;
  try {
    decoded = decodeURIComponent(text);
  } catch {
    throw new InvalidError(
      `The ${where} has broken percent-encoding at "${text.slice(0, 40)}": write a literal % as %25.`,
    );
  }
  if (decoded.includes('\0')) {
    throw new InvalidError(`The ${where} must not hold a NUL character (%00).`);
  }
  return decoded;
}
