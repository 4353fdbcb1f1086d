import { shareOf } from './consumer-member';

describe('shareOf', () => {
  it.each([
    [12, 1],
    [12, 5],
    [6, 4],
    [3, 7],
  ])('divides %i partitions among %i members without rest or overlap', (partitions, count) => {
    const members = Array.from({ length: count }, (_, i) => `member-${i}`);
    const shares = members.map((member) => shareOf(partitions, members, member));
    expect(shares.reduce((sum, share) => sum + share, 0)).toBe(partitions);
    expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
  });

  it('gives nothing to a member whose membership has run out', () => {
    expect(shareOf(12, ['other'], 'me')).toBe(0);
  });
});
