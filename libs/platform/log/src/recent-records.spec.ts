import type { LogRecord } from './log';
import { RecentRecords } from './recent-records';

function records(from: number, to: number, bytes = 10): LogRecord[] {
  return Array.from({ length: to - from }, (_, n) => ({
    id: `evt_${from + n}`,
    topic: 'mail.events.v1',
    key: 'k',
    headers: {},
    payload: Buffer.alloc(bytes),
    partition: 0,
    offset: from + n,
    publishedAt: 0,
  }));
}

describe('RecentRecords', () => {
  let recent: RecentRecords;
  const offsets = (offset: number, limit = 1_000): number[] =>
    recent.read('t/0', offset, limit).map((record) => record.offset);
  beforeEach(() => {
    recent = new RecentRecords();
  });

  it('has what follows an offset, up to a limit, and nothing behind a gap', () => {
    recent.add('t/0', records(3, 6));
    recent.add('t/0', records(4, 8));
    expect(offsets(3)).toEqual([3, 4, 5, 6, 7]);
    expect(offsets(5, 2)).toEqual([5, 6]);
    expect(offsets(8)).toEqual([]);
    expect(offsets(2)).toEqual([]);
    expect(recent.read('t/1', 3, 10)).toEqual([]);
  });

  it('does not read over a hole', () => {
    recent.add('t/0', [...records(5, 6), ...records(9, 14)]);
    expect(offsets(9)).toEqual([]);
    expect(offsets(5)).toEqual([5, 9, 10, 11, 12, 13]);
  });

  it('goes on from later records, and leaves older ones out', () => {
    recent.add('t/0', records(10, 12));
    recent.add('t/0', records(20, 22));
    expect(offsets(20)).toEqual([20, 21]);
    expect(offsets(10)).toEqual([]);
    recent.add('t/0', records(10, 12));
    expect(offsets(20)).toEqual([20, 21]);
  });

  it('keeps the latest within its bounds', () => {
    recent.add('t/0', records(0, 1_000));
    expect(offsets(1_000 - 256)).toHaveLength(256);
    expect(offsets(0)).toEqual([]);
    recent.add('t/0', records(1_000, 1_003, 100 * 1024));
    expect(offsets(1_001)).toEqual([1_001, 1_002]);
    expect(offsets(1_000)).toEqual([]);
    recent.add('t/0', records(1_003, 1_004, 300 * 1024));
    expect(offsets(1_003)).toEqual([]);
    recent.add('t/0', records(1_004, 1_005));
    expect(offsets(1_004)).toEqual([1_004]);
  });
});
