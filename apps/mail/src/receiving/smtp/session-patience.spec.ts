import { isOverdue, type SessionProgress } from './session-patience';

const limits = { beforeMailMs: 30_000, idleTimeoutMs: 300_000, minContentBytesPerSecond: 4096 };
const overdue = (facts: Partial<SessionProgress>, isCrowded = false) =>
  isOverdue({ hasBegun: true, contentBytes: null, sinceProgress: 0, ...facts }, limits, isCrowded);

describe('patience with a session', () => {
  it('is short before the first MAIL', () => {
    expect(overdue({ hasBegun: false, sinceProgress: 29_000 })).toBe(false);
    expect(overdue({ hasBegun: false, sinceProgress: 31_000 })).toBe(true);
  });

  it('is five minutes between the steps of a transaction', () => {
    expect(overdue({ sinceProgress: 299_000 })).toBe(false);
    expect(overdue({ sinceProgress: 301_000 })).toBe(true);
  });

  it('lasts as long as content arrives at the least rate', () => {
    const tenMinutes = { sinceProgress: 600_000 };
    expect(overdue({ ...tenMinutes, contentBytes: 600 })).toBe(true);
    expect(overdue({ ...tenMinutes, contentBytes: 4096 * 300 })).toBe(false);
  });

  it('is shorter while sessions are short', () => {
    expect(overdue({ hasBegun: false, sinceProgress: 11_000 }, true)).toBe(true);
    expect(overdue({ sinceProgress: 31_000 }, true)).toBe(true);
    expect(overdue({ sinceProgress: 31_000, contentBytes: 4096 * 20 }, true)).toBe(false);
  });
});
