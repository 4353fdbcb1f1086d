import { InvalidError } from '@dak/kernel';
import { TEMPLATE_VARIABLE_TYPES, type TemplateVariableRecord } from '@dak/contracts/api';
import { storableText } from '../../db/sql-parameters';

export type Scalar = string | number | boolean | null;
export type ListItem = Scalar | Readonly<Record<string, Scalar>>;
/** What a variable has after it was checked. */
export type TemplateValue = Scalar | readonly ListItem[];
export type TemplateVariable = TemplateVariableRecord;

export const MAX_VARIABLES = 100;
const MAX_DESCRIPTION = 500;
const MAX_TEXT = 64 * 1024;
const MAX_ITEMS = 1000;
const MAX_ITEM_FIELDS = 50;
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
/** RFC 3339 §5.6: full-date, or date-time. */
const DATE = /^\d{4}-\d{2}-\d{2}(?:[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2}))?$/;
const URL_SCHEMES = ['http:', 'https:', 'mailto:'];

const EXPECTED: Readonly<Record<TemplateVariable['type'], string>> = {
  string: `a text of at most ${MAX_TEXT} characters`,
  number: 'a finite number',
  boolean: 'true or false',
  date: 'a date such as 2027-01-31, or an RFC 3339 date-time such as 2027-01-31T09:00:00Z',
  url: 'an absolute address that begins with https:, http: or mailto:',
  list: `an array of at most ${MAX_ITEMS} texts, numbers, booleans or flat objects of these`,
};

/**
 * The declarations of a template as a caller wrote them.
 * @throws InvalidError naming the declaration
 */
export function parseVariables(json: Uint8Array): TemplateVariable[] {
  const declared = json.length === 0 ? [] : parseJson(json, 'variables');
  if (!Array.isArray(declared) || declared.length > MAX_VARIABLES) {
    throw new InvalidError(`variables must be an array of at most ${MAX_VARIABLES} declarations.`);
  }
  const names = new Set<string>();
  return declared.map((entry: unknown, index) => {
    const variable = parseDeclaration(entry, `variables[${index}]`);
    if (names.has(variable.name)) {
      throw new InvalidError(`variables[${index}].name repeats ${variable.name}. Declare it once.`);
    }
    names.add(variable.name);
    return variable;
  });
}

function parseDeclaration(entry: unknown, field: string): TemplateVariable {
  if (!isObject(entry)) throw new InvalidError(`${field} must be an object with name and type.`);
  const { name, type, required = false, fallback = null } = entry;
  const description = entry['description'] ?? '';
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw new InvalidError(
      `${field}.name must be 1 to 64 letters, digits and underscores that do not begin with a digit.`,
    );
  }
  const known = TEMPLATE_VARIABLE_TYPES.find((candidate) => candidate === type);
  if (known === undefined) {
    throw new InvalidError(`${field}.type must be one of ${TEMPLATE_VARIABLE_TYPES.join(', ')}.`);
  }
  if (typeof required !== 'boolean') {
    throw new InvalidError(`${field}.required must be true or false.`);
  }
  if (typeof description !== 'string' || description.length > MAX_DESCRIPTION) {
    throw new InvalidError(
      `${field}.description must be a text of at most ${MAX_DESCRIPTION} characters.`,
    );
  }
  return {
    name,
    type: known,
    required,
    fallback: fallback === null ? null : mutable(parseValue(known, fallback, `${field}.fallback`)),
    description: storableText(description),
  };
}

/**
 * What each variable has: the value given, else its fallback; a variable with neither is null.
 * `missing` names the required ones among these.
 * @throws InvalidError for a value of the wrong type and for a name that is not declared, which would
 * else be a typing mistake that is mailed
 * @param field the name of `json` for the sentences
 */
export function resolveVariables(
  declared: readonly TemplateVariable[],
  json: Uint8Array,
  field: 'variables' | 'template_variables',
): { values: ReadonlyMap<string, TemplateValue>; missing: string[] } {
  const given = json.length === 0 ? {} : parseJson(json, field);
  if (!isObject(given)) {
    throw new InvalidError(`${field} must be an object of values by variable name.`);
  }
  const names = new Set(declared.map(({ name }) => name));
  const unknown = Object.keys(given).find((name) => !names.has(name));
  if (unknown !== undefined) {
    const all = names.size === 0 ? 'none' : [...names].join(', ');
    throw new InvalidError(
      `${field}.${unknown.slice(0, 100)} is no variable of this template, whose variables are: ${all}.`,
      'unknown_variable',
    );
  }
  const values = new Map<string, TemplateValue>();
  const missing: string[] = [];
  for (const { name, type, required, fallback } of declared) {
    const value = Object.hasOwn(given, name) ? given[name] : null;
    const settled =
      value === null || value === undefined
        ? fallback
        : parseValue(type, value, `${field}.${name}`);
    values.set(name, settled);
    if (settled === null && required) missing.push(name);
  }
  return { values, missing };
}

/** @throws InvalidError naming the field and what it takes */
function parseValue(type: TemplateVariable['type'], value: unknown, field: string): TemplateValue {
  const parsed = valueOf(type, value);
  if (parsed === null) throw new InvalidError(`${field} must be ${EXPECTED[type]}.`);
  return parsed;
}

function valueOf(type: TemplateVariable['type'], value: unknown): TemplateValue | null {
  switch (type) {
    case 'string':
      return typeof value === 'string' && value.length <= MAX_TEXT ? storableText(value) : null;
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' && isDate(value) ? value : null;
    case 'url':
      return typeof value === 'string' && isUrl(value) ? value : null;
    case 'list':
      return listOf(value);
  }
}

function isDate(text: string): boolean {
  if (!DATE.test(text) || Number.isNaN(Date.parse(text))) return false;
  // Date.parse takes 31 February for the third of March.
  const [year, month, day] = text.slice(0, 10).split('-').map(Number);
  const date = new Date(Date.UTC(year!, month! - 1, day));
  return date.getUTCMonth() === month! - 1 && date.getUTCDate() === day;
}

/** Only what stays one address in a header, a text and an attribute: no blanks, no control characters. */
function isUrl(text: string): boolean {
  if (text.length > 2048 || /[\s\p{Cc}<>"]/u.test(text)) return false;
  const url = URL.parse(text);
  return url !== null && URL_SCHEMES.includes(url.protocol);
}

function listOf(value: unknown): ListItem[] | null {
  if (!Array.isArray(value) || value.length > MAX_ITEMS) return null;
  const items: ListItem[] = [];
  for (const entry of value as unknown[]) {
    if (isScalar(entry)) {
      items.push(storableScalar(entry));
      continue;
    }
    if (!isObject(entry)) return null;
    const fields = Object.entries(entry);
    if (fields.length > MAX_ITEM_FIELDS) return null;
    const item: Record<string, Scalar> = {};
    for (const [name, field] of fields) {
      if (!NAME.test(name) || name === '__proto__' || !isScalar(field)) return null;
      item[name] = storableScalar(field);
    }
    items.push(item);
  }
  return items;
}

function isScalar(value: unknown): value is Scalar {
  return (
    value === null ||
    (typeof value === 'string' && value.length <= MAX_TEXT) ||
    (typeof value === 'number' && Number.isFinite(value)) ||
    typeof value === 'boolean'
  );
}

function storableScalar(value: Scalar): Scalar {
  return typeof value === 'string' ? storableText(value) : value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mutable(value: TemplateValue): TemplateVariable['fallback'] {
  return value as TemplateVariable['fallback'];
}

function parseJson(json: Uint8Array, field: string): unknown {
  try {
    return JSON.parse(Buffer.from(json).toString('utf8'));
  } catch {
    throw new InvalidError(`${field} must be JSON.`);
  }
}
