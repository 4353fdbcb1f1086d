import { MAX_LABELS } from '@dak/contracts/api';
import { InvalidError } from '@dak/kernel';

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
