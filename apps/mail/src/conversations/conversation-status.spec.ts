import {
  acceptsReplies,
  canSetStatus,
  canSnooze,
  initialStatus,
  snoozed,
  statusAfterMessage,
  statusAfterWithdrawal,
  withStatus,
  woken,
  type StatusMessage,
  type StatusState,
} from './conversation-status';
import type { ConversationStatus } from './conversation-row';

const STATUSES = ['open', 'pending', 'waiting', 'snoozed', 'resolved', 'closed'] as const;
const NOW = '2026-06-01T09:00:00.000Z';

const state = (status: ConversationStatus, overrides: Partial<StatusState> = {}): StatusState => ({
  status,
  status_before_snooze: status === 'snoozed' ? 'waiting' : null,
  snoozed_until: null,
  snooze_wake_on_reply: true,
  resolved_at: status === 'resolved' ? NOW : null,
  assignee_type: null,
  ...overrides,
});
const inbound: StatusMessage = { direction: 'inbound', isAutomatic: false, isReleased: true };
const reply: StatusMessage = { direction: 'outbound', isAutomatic: false, isReleased: true };

describe('what mail does to the status', () => {
  const after = (message: StatusMessage) =>
    STATUSES.map((status) => statusAfterMessage(state(status), message).status);

  it('inbound mail of a person needs somebody', () => {
    expect(after(inbound)).toEqual(['open', 'pending', 'open', 'open', 'open', 'closed']);
  });

  it('an answer puts the ball on the other side', () => {
    expect(after(reply)).toEqual([
      'waiting',
      'waiting',
      'waiting',
      'snoozed',
      'resolved',
      'closed',
    ]);
  });

  it.each([
    ['automatic inbound mail', { ...inbound, isAutomatic: true }],
    ['automatic outbound mail', { ...reply, isAutomatic: true }],
    ['mail that has not left', { ...reply, isReleased: false }],
    ['a note', { ...inbound, direction: 'internal_note' as const }],
  ])('%s changes nothing', (_what, message) => {
    expect(after(message)).toEqual(STATUSES);
  });

  it('goes back to the agent that it is assigned to', () => {
    const assigned = state('waiting', { assignee_type: 'agent' });
    expect(statusAfterMessage(assigned, inbound).status).toBe('pending');
  });

  it('a canceled reply leaves what is unanswered waiting again', () => {
    expect(statusAfterWithdrawal(state('waiting'), true).status).toBe('open');
    expect(statusAfterWithdrawal(state('waiting'), false).status).toBe('waiting');
    expect(statusAfterWithdrawal(state('resolved'), true).status).toBe('resolved');
  });

  it('begins open for them, waiting for us, pending for an approval', () => {
    expect(initialStatus(inbound, false)).toBe('open');
    expect(initialStatus(reply, false)).toBe('waiting');
    expect(initialStatus({ ...reply, isReleased: false }, true)).toBe('pending');
  });
});

describe('snoozing', () => {
  it('remembers the status through being moved, and gives it back', () => {
    const first = snoozed(state('pending'), '2026-06-02T09:00:00.000Z', true);
    const moved = snoozed(first, '2026-06-03T09:00:00.000Z', true);
    expect(moved).toMatchObject({ status: 'snoozed', snoozed_until: '2026-06-03T09:00:00.000Z' });
    expect(woken(moved)).toEqual(state('pending'));
  });

  it('without wake_on_reply sleeps on, and wakes open when mail came meanwhile', () => {
    const asleep = snoozed(state('waiting'), '2026-06-02T09:00:00.000Z', false);
    const written = statusAfterMessage(asleep, inbound);
    expect(written.status).toBe('snoozed');
    expect(woken(written).status).toBe('open');
  });

  it('is for what is not finished', () => {
    expect(STATUSES.filter((status) => canSnooze(status))).toEqual([
      'open',
      'pending',
      'waiting',
      'snoozed',
    ]);
  });
});

describe('setting a status by hand', () => {
  it('never snoozes, closes or reopens what is closed', () => {
    for (const from of STATUSES) {
      for (const to of STATUSES) {
        const allowed = from === to || (to !== 'snoozed' && to !== 'closed' && from !== 'closed');
        expect([from, to, canSetStatus(from, to)]).toEqual([from, to, allowed]);
      }
    }
  });

  it('resolves a snoozed conversation and forgets the snooze', () => {
    const resolved = withStatus(state('snoozed', { snoozed_until: NOW }), 'resolved', NOW);
    expect(resolved).toEqual(state('resolved'));
  });
});

describe('the reopen window', () => {
  const days = (count: number) => Date.parse(NOW) + count * 86_400_000;
  it('takes replies for 14 days after resolving', () => {
    expect(acceptsReplies(state('resolved'), days(14))).toBe(true);
    expect(acceptsReplies(state('resolved'), days(14) + 1)).toBe(false);
    expect(acceptsReplies(state('closed'), days(0))).toBe(false);
    expect(acceptsReplies(state('waiting'), days(400))).toBe(true);
  });
});
