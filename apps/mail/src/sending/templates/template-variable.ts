import { InvalidError } from '@dak/kernel';
import {
  TEMPLATE_VALUES,
  type TemplateValue,
  type TemplateVariableRecord,
} from '@dak/contracts/api';

export type TemplateVariable = TemplateVariableRecord;

/**
 * What each variable has: the value given, else its fallback; a variable with neither is null.
 * `missing` names the required ones among these.
 * @throws InvalidError for a value of the wrong type and for a name that is not declared, which would
 * else be a typing mistake that is mailed
 * @param field the name of `given` for the sentences
 */
export function resolveVariables(
  declared: readonly TemplateVariable[],
  given: Readonly<Record<string, unknown>>,
  field: 'variables' | 'template_variables',
): { values: ReadonlyMap<string, TemplateValue>; missing: string[] } {
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
    const { shape, expected } = TEMPLATE_VALUES[type];
    const value = shape.nullish().safeParse(Object.hasOwn(given, name) ? given[name] : null);
    if (!value.success) throw new InvalidError(`${field}.${name} must be ${expected}.`);
    const settled = value.data ?? fallback;
    values.set(name, settled);
    if (settled === null && required) missing.push(name);
  }
  return { values, missing };
}
