import type { LogRecord } from './log';
import type { ParkedStore } from './parked-store';
import { replayParked } from './replay-parked';

const LEASE_MS = 60_000;

/** A store with this number of records of one key. */
function storeWith(records: number): { store: ParkedStore; calls: string[]; take: () => void } {
  let left = records;
  let isTaken = false;
  const calls: string[] = [];
  const store: Partial<ParkedStore> = {
    claimReplay: async () => true,
    renewReplay: async () => {
      calls.push('renew');
      return !isTaken;
    },
    endReplay: async (_topic, _key, owner) => void calls.push(`end ${owner}`),
    oldest: async () => (left === 0 ? null : ({ id: `evt_${left}` } as LogRecord)),
    remove: async () => void (left -= 1),
    unpark: async () => true,
  };
  return { store: store as ParkedStore, calls, take: () => (isTaken = true) };
}

describe('a replay that takes long', () => {
  const request = { topic: 'notes.v1', key: 'a', leaseMs: LEASE_MS, owner: 'me' };
  let now = 0;
  beforeEach(() => {
    now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
  });
  afterEach(() => void jest.restoreAllMocks());

  it('keeps its lease', async () => {
    const { store, calls } = storeWith(10);
    const handler = async () => void (now += LEASE_MS / 5);
    expect(await replayParked(store, handler, 'reader', request)).toMatchObject({ replayed: 10 });
    expect(calls).toHaveLength(5);
  });

  it('ends when another one has taken its lease', async () => {
    const { store, calls, take } = storeWith(10);
    let handled = 0;
    const handler = async () => {
      handled += 1;
      now += LEASE_MS;
      take();
    };
    await expect(replayParked(store, handler, 'reader', request)).rejects.toMatchObject({
      code: 'not_parked',
    });
    expect(handled).toBe(1);
    expect(calls).toEqual(['renew', 'end me']);
  });
});
