import { MAX_LABELS } from '@dak/contracts/api';
import { changedLabels } from './changed-labels';

describe('labels', () => {
  it('removes what is both added and removed, and adds nothing twice', () => {
    expect(changedLabels(['a', 'b'], ['b', 'c', 'd'], ['a', 'd'])).toEqual(['b', 'c']);
  });

  it('stops at the limit, counted after removal', () => {
    const full = Array.from({ length: MAX_LABELS }, (_, index) => `l${index}`);
    expect(() => changedLabels(full, ['x'], [])).toThrow(/at most 64/);
    expect(changedLabels(full, ['x'], ['l0'])).toHaveLength(MAX_LABELS);
  });
});
