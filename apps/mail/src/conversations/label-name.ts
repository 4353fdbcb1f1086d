import { InvalidError } from '@dak/kernel';

export const MAX_LABELS = 64;
const LABEL = /^[a-z0-9][a-z0-9._:-]{0,62}$/;

/** Labels that Dak sets; callers cannot. */
const SYSTEM_LABELS: ReadonlySet<string> = new Set([
  'unread',
  'has_attachment',
  'auto_generated',
  'bounced',
  'injection_suspected',
  'external_first_contact',
]);

/** @throws InvalidError when the name breaks the grammar or belongs to Dak */
export function labelName(field: string, name: string): string {
  if (SYSTEM_LABELS.has(name)) {
    throw new InvalidError(`${field}: ${name} is a system label, which only Dak sets.`);
  }
  if (!LABEL.test(name)) {
    throw new InvalidError(
      `${field} must hold labels of 1 to 63 lower-case letters, digits, dots, underscores, colons and hyphens, the first a letter or digit.`,
    );
  }
  return name;
}

/**
 * Labels after a change; what is both added and removed is removed. Removing takes any name, so that
 * labels of an older grammar can go.
 * @throws InvalidError when there would be more than {@link MAX_LABELS}
 */
export function changedLabels(
  labels: readonly string[],
  add: readonly string[],
  remove: readonly string[],
): string[] {
  for (const name of remove) if (SYSTEM_LABELS.has(name)) labelName('remove', name);
  const gone = new Set(remove);
  const next = new Set(labels);
  for (const name of add) next.add(labelName('add', name));
  const kept = [...next].filter((name) => !gone.has(name));
  if (kept.length > MAX_LABELS) {
    throw new InvalidError(`A conversation must have at most ${MAX_LABELS} labels.`);
  }
  return kept;
}
