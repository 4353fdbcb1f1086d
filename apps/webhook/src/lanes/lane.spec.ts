import { CLOSED } from '../decisions/breaker';
import { classifyOutcome } from '../decisions/classify-outcome';
import type { Health } from '../decisions/health-tracker';
import type { DueDelivery } from './due-delivery';
import { Lane } from './lane';
import type { LaneConfig } from './lane-config';

const NOW = Date.parse('2026-11-22T12:00:00Z');
const DAY_MS = 86_400_000;
const HEALTHY: Health = { breaker: CLOSED, streak: null, lastSuccessAt: null };
/** Nothing but failures for six days, of two events. */
const HOPELESS: Health = {
  ...HEALTHY,
  streak: {
    firstAt: NOW - 6 * DAY_MS,
    firstEventId: 'evt_1',
    lastAt: NOW - DAY_MS,
    lastEventId: 'evt_2',
  },
};

const config = (change: Partial<LaneConfig> = {}): LaneConfig => ({
  organizationId: 'org',
  url: 'https://hooks.example.com',
  headers: {},
  timeoutMs: 15_000,
  limits: { ratePerSecond: 100, maxConcurrency: 2 },
  isOrdered: false,
  isSendable: true,
  releasedAt: 0,
  stamp: '1:',
  keys: [],
  ...change,
});

const open = (change: Partial<LaneConfig> = {}, health = HEALTHY): Lane =>
  new Lane({ endpointId: 'endpoint', epoch: 1 }, config(change), health, NOW);

const delivery = (id: string, orderKey: string | null = null): DueDelivery => ({
  id,
  eventId: `evt_${id}`,
  trigger: 'automatic',
  attempts: 0,
  isOrdered: orderKey !== null,
  orderKey,
  gap: false,
  firstAttemptAt: null,
  createdAt: NOW,
  body: Buffer.from('{}'),
  traceparent: null,
});

const answer = (status: number) =>
  classifyOutcome(
    {
      kind: 'response',
      status,
      headers: {},
      bodyStart: Buffer.alloc(0),
      truncated: false,
      durationMs: 1,
    },
    NOW,
  );
const aborted = classifyOutcome(
  { kind: 'error', code: 'aborted', detail: 'The service stops.', durationMs: 1 },
  NOW,
);

/** What begins now, in order, until the lane has to wait. */
function begun(lane: Lane): DueDelivery[] {
  const turn = lane.beginNext(NOW);
  return turn.delivery === null ? [] : [turn.delivery, ...begun(lane)];
}

describe('a lane', () => {
  it('begins as many attempts as its endpoint takes at once', () => {
    const lane = open();
    lane.queue([delivery('a'), delivery('b'), delivery('c')]);
    const [first, second] = begun(lane);
    expect([first?.id, second?.id, lane.hasQueued]).toEqual(['a', 'b', true]);
    lane.endAttempt(first!, answer(200), false, NOW, NOW);
    expect(begun(lane).map(({ id }) => id)).toEqual(['c']);
  });

  it('takes a delivery once, however often it is read', () => {
    const lane = open();
    lane.queue([delivery('a')]);
    lane.queue([delivery('a')]);
    expect(begun(lane)).toHaveLength(1);
    expect(lane.idsInHand).toEqual(['a']);
  });

  it('sends nothing once its settings may be stale, and checks what is queued against the new ones', () => {
    const lane = open();
    lane.queue([delivery('a')]);
    lane.refresh();
    expect(begun(lane)).toEqual([]);
    lane.adopt(config({ stamp: '2:' }), HEALTHY, NOW);
    expect([lane.maySend, lane.hasQueued, lane.wantsMore(NOW)]).toEqual([true, false, true]);
  });

  it('queues what it held back only while it may send', () => {
    const lane = open();
    lane.holdBack([delivery('a')]);
    expect([lane.hasQueued, lane.idsInHand]).toEqual([false, ['a']]);
    lane.adopt(config({ isSendable: false }), HEALTHY, NOW);
    lane.queueHeldBack([delivery('a')]);
    expect([lane.hasQueued, lane.idsInHand]).toEqual([false, []]);
  });

  it('reads the next event of a conversation when one is recorded', () => {
    const lane = open({ isOrdered: true });
    lane.queue([delivery('a', 'conversation')]);
    lane.polled(1, 10, NOW);
    const [first] = begun(lane);
    expect([lane.busyKeys, lane.wantsMore(NOW)]).toEqual([['endpoint/conversation'], false]);
    lane.settle(first!, { state: 'delivered' }, NOW);
    expect([lane.busyKeys, lane.wantsMore(NOW)]).toEqual([[], true]);
  });

  it('stores its health when it changes, and again after a write that failed', () => {
    const lane = open();
    lane.queue([delivery('a')]);
    lane.endAttempt(begun(lane)[0]!, answer(500), false, NOW, NOW);
    expect(lane.takeUnsavedHealth()).toMatchObject({ streak: { firstEventId: 'evt_a' } });
    expect(lane.takeUnsavedHealth()).toBeNull();
    lane.keepHealthUnsaved();
    expect(lane.takeUnsavedHealth()).not.toBeNull();
  });

  it('ends with a 410, and after days of failures alone', () => {
    const verdicts = [
      [HEALTHY, answer(410), 'gone'],
      [HEALTHY, answer(500), null],
      [HOPELESS, answer(500), 'failing'],
      [HOPELESS, answer(200), null],
    ] as const;
    for (const [health, verdict, reason] of verdicts) {
      const lane = open({}, health);
      lane.queue([delivery('a'), delivery('b')]);
      const [first] = begun(lane);
      expect(lane.endAttempt(first!, verdict, false, NOW, NOW)).toBe(reason);
      expect(lane.maySend).toBe(reason === null);
      lane.resume();
      expect(lane.maySend).toBe(true);
    }
  });

  it('learns nothing from an attempt that was given up on this side, and reads the delivery again', () => {
    const lane = open({}, HOPELESS);
    lane.queue([delivery('a')]);
    expect(lane.endAttempt(begun(lane)[0]!, aborted, false, NOW, NOW)).toBeNull();
    expect([lane.maySend, lane.idsInHand, lane.takeUnsavedHealth()]).toEqual([true, [], null]);
  });
});
