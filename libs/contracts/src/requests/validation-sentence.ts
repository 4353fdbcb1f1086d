import type { z } from 'zod';

type Issue = z.core.$ZodIssue;

const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'a UUID',
  email: 'an e-mail address such as name@example.com',
  url: 'an absolute URL',
  datetime: 'an RFC 3339 date-time such as 2026-01-31T09:30:00Z',
  date: 'a date such as 2026-01-31',
  time: 'a time such as 09:30:00',
};

/**
 * One sentence for people: the field and what to send instead. A schema's own message reads on after
 * the field's name (`: …` and `.member …` without a space), or stands alone when it is a sentence (begins with a capital letter).
 * @param where `the body` or `the query`, named when the fault is not in one field
 */
export function describeIssue(issue: Issue, where: string): string {
  const field = fieldName(issue.path) || where;
  const own = ownMessage(issue);
  if (own !== null) {
    return /^[A-Z]/.test(own) ? own : `${field}${/^[:.]/.test(own) ? '' : ' '}${own}`;
  }
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? `${field} is missing: send ${typeName(issue.expected)}.`
        : `${field} must be ${typeName(issue.expected)}.`;
    case 'too_small':
      return `${field} must ${bound(issue.origin, issue.minimum, 'least', issue.inclusive)}.`;
    case 'too_big':
      return `${field} must ${bound(issue.origin, issue.maximum, 'most', issue.inclusive)}.`;
    case 'invalid_format':
      return `${field} must be ${FORMATS[issue.format] ?? `a valid ${issue.format}`}.`;
    case 'invalid_value':
      return issue.input === undefined && issue.path.length > 0
        ? `${field} is missing: send ${oneOf(issue.values)}.`
        : `${field} must be ${oneOf(issue.values)}.`;
    case 'unrecognized_keys':
      return `${issue.keys.map((key) => fieldName([...issue.path, key])).join(', ')} ${issue.keys.length === 1 ? 'is not a field' : 'are not fields'} of this request: remove or correct the name.`;
    case 'not_multiple_of':
      return `${field} must be a multiple of ${issue.divisor}.`;
    case 'invalid_key':
      return `${field} has a name that is not allowed.`;
    default:
      return `${field} does not have one of the documented forms.`;
  }
}

/** zod's own texts begin with one of few words; everything else was written by a schema's author. */
function ownMessage(issue: Issue): string | null {
  return /^(Invalid|Too |Unrecognized|Expected)/.test(issue.message) ? null : issue.message;
}

function fieldName(path: readonly PropertyKey[]): string {
  let name = '';
  for (const part of path) {
    if (typeof part === 'number') name += `[${part}]`;
    else name += name === '' ? String(part) : `.${String(part)}`;
  }
  return name.slice(0, 200);
}

function typeName(expected: string): string {
  switch (expected) {
    case 'int':
      return 'an integer';
    case 'array':
    case 'object':
      return `an ${expected}`;
    case 'record':
      return 'an object';
    case 'boolean':
      return 'true or false';
    default:
      return `a ${expected}`;
  }
}

function bound(
  origin: string,
  limit: unknown,
  side: 'least' | 'most',
  inclusive?: boolean,
): string {
  const amount = String(limit);
  const plural = amount === '1' ? '' : 's';
  switch (origin) {
    case 'string':
      return amount === '1' && side === 'least'
        ? 'not be empty'
        : `have at ${side} ${amount} character${plural}`;
    case 'array':
    case 'set':
      return `have at ${side} ${amount} element${plural}`;
    case 'object':
    case 'record':
    case 'map':
      return `have at ${side} ${amount} member${plural}`;
    default:
      return inclusive === false
        ? `be ${side === 'least' ? 'greater' : 'less'} than ${amount}`
        : `be at ${side} ${amount}`;
  }
}

function oneOf(values: readonly unknown[]): string {
  const names = values.map((value) => JSON.stringify(value));
  return names.length === 1 ? String(names[0]) : `one of ${names.join(', ')}`;
}
