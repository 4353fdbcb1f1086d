import { RULE_FIELDS, RULE_OPERATORS } from '@dak/contracts/api';
import { InvalidError } from '@dak/kernel';
import type { Condition, ConditionValue } from './rule';
import { MAX_CONDITIONS } from './rule';
import { fieldOf, headerNameOf, operatorsOf, type Field } from './rule-fields';
import { checkPattern, checkProgram } from './rule-pattern';
import { jsonList, membersOf } from './json-members';

const MAX_TEXT = 1_000;
const MAX_LIST = 200;

/** @throws InvalidError naming `conditions[2].operator` and the like */
export function parseConditions(json: Uint8Array): Condition[] {
  const list = jsonList('conditions', json);
  if (list.length > MAX_CONDITIONS) {
    throw new InvalidError(`conditions must have at most ${MAX_CONDITIONS} elements.`);
  }
  const conditions = list.map((item, index) => parseCondition(`conditions[${index}]`, item));
  checkProgram(
    conditions
      .map(({ operator, value }, index) =>
        operator === 'matches' ? checkPattern(`conditions[${index}].value`, String(value)) : 0,
      )
      .reduce((sum, size) => sum + size, 0),
  );
  return conditions;
}

function parseCondition(at: string, item: unknown): Condition {
  const given = membersOf(at, item, ['field', 'operator', 'value', 'negate']);
  const name = typeof given['field'] === 'string' ? given['field'] : '';
  const field = fieldOf(name);
  if (field === null) {
    throw new InvalidError(
      `${at}.field must be one of ${RULE_FIELDS.join(', ')}, or header:<Name>.`,
    );
  }
  const operator = RULE_OPERATORS.find((known) => known === given['operator']);
  if (operator === undefined) {
    throw new InvalidError(`${at}.operator must be one of ${RULE_OPERATORS.join(', ')}.`);
  }
  if (!operatorsOf(field).includes(operator)) {
    throw new InvalidError(
      `${at}.operator ${operator} does not fit ${name}: use one of ${operatorsOf(field).join(', ')}.`,
    );
  }
  const negate = given['negate'] ?? false;
  if (typeof negate !== 'boolean') throw new InvalidError(`${at}.negate must be true or false.`);
  const header = headerNameOf(name);
  return {
    field: header === null ? name : `header:${header}`,
    operator,
    value: parseValue(`${at}.value`, field, operator, given['value'] ?? null),
    negate,
  };
}

function parseValue(
  at: string,
  field: Field,
  operator: Condition['operator'],
  value: unknown,
): ConditionValue {
  if (operator === 'exists') {
    if (value === null) return true;
    if (typeof value !== 'boolean') {
      throw new InvalidError(`${at} must be true or false with the operator exists, or left out.`);
    }
    return value;
  }
  if (operator === 'in') {
    if (!Array.isArray(value) || value.length === 0 || value.length > MAX_LIST) {
      throw new InvalidError(
        `${at} must be a list of 1 to ${MAX_LIST} values with the operator in.`,
      );
    }
    return value.map((one, index) => {
      const parsed = parseScalar(`${at}[${index}]`, field, one);
      if (typeof parsed === 'boolean') throw new InvalidError(`${at}[${index}] must be a text.`);
      return parsed;
    });
  }
  return parseScalar(at, field, value);
}

function parseScalar(at: string, field: Field, value: unknown): string | number | boolean {
  switch (field.type) {
    case 'boolean':
      if (typeof value !== 'boolean') throw new InvalidError(`${at} must be true or false.`);
      return value;
    case 'number': {
      const { min = 0, max = Number.MAX_SAFE_INTEGER } = field;
      if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < min || value > max) {
        throw new InvalidError(`${at} must be an integer from ${min} to ${max}.`);
      }
      return value;
    }
    case 'choice':
    case 'text': {
      if (typeof value !== 'string' || value === '' || value.length > MAX_TEXT) {
        throw new InvalidError(`${at} must be a text of 1 to ${MAX_TEXT} characters.`);
      }
      if (value.includes('\0') || !value.isWellFormed()) {
        throw new InvalidError(`${at} holds characters that no text has: remove them.`);
      }
      const known = field.choices?.find((choice) => choice === value.toLowerCase());
      if (field.choices !== null && known === undefined) {
        throw new InvalidError(`${at} must be one of ${field.choices.join(', ')}.`);
      }
      return known ?? value;
    }
  }
}
