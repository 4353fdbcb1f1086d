import { DomainError, InvalidError, UnavailableError } from '@dak/kernel';
import { classifyFailure, retryDelayMs } from './failure';
import type { LogRecord } from './log';
import { OwnedPartition } from './owned-partition';
import { handleBatch, type BatchOwner } from './partition-batch';
import { Slots } from './slots';

function record(offset: number, key: string): LogRecord {
  return {
    id: `evt_${offset}`,
    topic: 't',
    partition: 0,
    offset,
    key,
    headers: {},
    payload: Buffer.alloc(0),
    publishedAt: 0,
  };
}

function ownerOf(overrides: Partial<BatchOwner> = {}): BatchOwner & { done: number[] } {
  const done: number[] = [];
  return {
    done,
    signal: new AbortController().signal,
    mayStart: () => true,
    park: async () => undefined,
    appendParked: async () => new Set(),
    finished: ({ offset }) => done.push(offset),
    onError: () => undefined,
    onFailure: () => undefined,
    ...overrides,
  };
}

const rules = { group: 'g', maxBatch: 2, maxAttempts: 5 };

describe('handleBatch', () => {
  it('lets other keys have their turn before a busy key goes on', async () => {
    const turns: string[] = [];
    const records = [0, 1, 2, 3, 4, 5].map((n) => record(n, 'busy')).concat(record(6, 'quiet'));
    await handleBatch(
      records,
      {
        ...rules,
        slots: new Slots(1),
        handler: async (batch) => void turns.push(`${batch[0]!.key} ${batch.length}`),
      },
      ownerOf(),
    );
    expect(turns).toEqual(['busy 2', 'quiet 1', 'busy 2', 'busy 2']);
  });

  it('parks from the failing record on and lets those before it through', async () => {
    const parked: number[][] = [];
    const owner = ownerOf({
      park: async (stuck) => void parked.push(stuck.map(({ offset }) => offset)),
    });
    await handleBatch(
      [0, 1, 2, 3].map((n) => record(n, 'k')),
      {
        ...rules,
        slots: new Slots(4),
        handler: async (batch) => {
          if (batch.some(({ offset }) => offset === 1)) throw new InvalidError('broken');
        },
      },
      owner,
    );
    expect(parked).toEqual([[1, 2, 3]]);
    expect(owner.done).toEqual([0, 1, 2, 3]);
  });

  it('starts no handler once the partition is being given up', async () => {
    const owner = ownerOf({ mayStart: () => false });
    await handleBatch(
      [record(0, 'k')],
      { ...rules, slots: new Slots(1), handler: () => Promise.reject(new Error('was called')) },
      owner,
    );
    expect(owner.done).toEqual([]);
  });
});

describe('OwnedPartition', () => {
  it('is done up to the first unfinished record, whatever finished behind it', () => {
    const partition = new OwnedPartition({ topic: 't', part: 0, epoch: 1, offset: 5 });
    partition.begin([5, 6, 8, 9].map((n) => record(n, 'k')));
    partition.finish(6);
    partition.finish(9);
    expect([partition.done, partition.uncommitted]).toEqual([5, false]);
    partition.finish(5);
    expect([partition.done, partition.uncommitted]).toEqual([7, true]);
    partition.end();
    expect(partition.position).toBe(7);
  });
});

describe('classifyFailure', () => {
  it.each([
    [new UnavailableError('away'), 'transient'],
    [new DomainError('deadline_exceeded', 'deadline_exceeded', 'slow'), 'transient'],
    [new InvalidError('broken'), 'poison'],
    [new DomainError('conflict', 'too_late', 'x'), 'unknown'],
    [new Error('defect'), 'unknown'],
    [new Error('Connection terminated unexpectedly'), 'transient'],
    [Object.assign(new Error(), { code: 'ECONNREFUSED' }), 'transient'],
    [Object.assign(new Error(), { code: '57P01' }), 'transient'],
    [Object.assign(new Error(), { code: '40P01' }), 'transient'],
    [Object.assign(new Error(), { code: '57014' }), 'transient'],
    [Object.assign(new Error(), { code: '55P03' }), 'transient'],
    [Object.assign(new Error(), { code: '25006' }), 'transient'],
    [Object.assign(new Error(), { code: '53100' }), 'transient'],
    [Object.assign(new Error(), { code: 'ENOSPC' }), 'transient'],
    [Object.assign(new Error(), { code: 'EIO' }), 'transient'],
    [
      new Error('wrapped', { cause: Object.assign(new Error(), { code: 'ECONNRESET' }) }),
      'transient',
    ],
    [
      new DomainError('internal', 'internal', 'x', { cause: new UnavailableError('y') }),
      'transient',
    ],
    [Object.assign(new Error(), { code: 'P0001' }), 'unknown'],
    [Object.assign(new Error(), { code: '23505' }), 'unknown'],
    ['text', 'unknown'],
  ])('takes %s for %s', (error, kind) => {
    expect(classifyFailure(error)).toBe(kind);
  });

  it('waits longer after each failure, at most six seconds', () => {
    expect(retryDelayMs(1, 0.5)).toBe(50);
    expect(retryDelayMs(2, 0.5)).toBe(100);
    expect(retryDelayMs(50, 1)).toBeCloseTo(6_000);
  });
});
