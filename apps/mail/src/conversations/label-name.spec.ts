import { MAX_LABELS, changedLabels, labelName } from './label-name';

describe('labels', () => {
  it.each(['a', '0', 'vip', 'team:north', 'v1.2_x-y', 'a'.repeat(63)])(
    'may be called %s',
    (name) => {
      expect(labelName('add', name)).toBe(name);
    },
  );

  it.each(['', 'Vip', ' vip', '-a', '.a', 'ä', 'a b', 'a/b', 'a'.repeat(64)])(
    'may not be called %j',
    (name) => {
      expect(() => labelName('add', name)).toThrow(/^add must hold labels/);
    },
  );

  it('leaves system labels to Dak, both ways', () => {
    expect(() => changedLabels([], ['unread'], [])).toThrow(/system label/);
    expect(() => changedLabels([], [], ['bounced'])).toThrow(/system label/);
  });

  it('removes what is both added and removed, and adds nothing twice', () => {
    expect(changedLabels(['a', 'b'], ['b', 'c', 'd'], ['a', 'd'])).toEqual(['b', 'c']);
  });

  it('stops at the limit, counted after removal', () => {
    const full = Array.from({ length: MAX_LABELS }, (_, index) => `l${index}`);
    expect(() => changedLabels(full, ['x'], [])).toThrow(/at most 64/);
    expect(changedLabels(full, ['x'], ['l0'])).toHaveLength(MAX_LABELS);
  });
});
