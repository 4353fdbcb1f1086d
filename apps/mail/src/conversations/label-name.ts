import { labelShape, MAX_LABELS } from '@dak/contracts/api';
import { parseRequest } from '@dak/contracts/requests';
import { InvalidError } from '@dak/kernel';

export { MAX_LABELS };

/** @throws InvalidError when the name breaks the grammar or belongs to Dak */
export function labelName(field: string, name: string): string {
  return parseRequest(labelShape, name, field);
}

/**
 * Labels after a change; labels both added and removed are removed.
 * @throws InvalidError when there would be more than {@link MAX_LABELS}
 */
export function changedLabels(
  labels: readonly string[],
  add: readonly string[],
  remove: readonly string[],
): string[] {
  const gone = new Set(remove);
  const kept = [...new Set([...labels, ...add])].filter((name) => !gone.has(name));
  if (kept.length > MAX_LABELS) {
    throw new InvalidError(`A conversation must have at most ${MAX_LABELS} labels.`);
  }
  return kept;
}
