import { interestIn, type EndpointInterest, type EventFacts } from './match-endpoints';

const endpoint = (change: Partial<EndpointInterest> = {}): EndpointInterest => ({
  endpointId: 'e1',
  ownerUserId: 'u1',
  ownerIsAdmin: true,
  eventTypes: [],
  mailboxIds: [],
  makerScopes: null,
  createdAt: 10_000,
  ...change,
});
const event = (change: Partial<EventFacts> = {}): EventFacts => ({
  type: 'mail.received',
  mailboxId: 'm1',
  conversationId: 'c1',
  occurredAt: 20_000,
  notifyWebhookIds: [],
  needsSend: false,
  ...change,
});

describe('which endpoints an event is for', () => {
  it('is those without a filter', () => {
    expect(interestIn(event(), endpoint())).toBe('matches');
  });

  it('is those that name its kind', () => {
    expect(interestIn(event(), endpoint({ eventTypes: ['mail.sent'] }))).toBe('none');
    expect(interestIn(event(), endpoint({ eventTypes: ['mail.sent', 'mail.received'] }))).toBe(
      'matches',
    );
  });

  it('is those that name its mailbox, and of an event without mailbox those that name none', () => {
    const ofMailbox = endpoint({ mailboxIds: ['m1'] });
    expect(interestIn(event(), ofMailbox)).toBe('matches');
    expect(interestIn(event({ mailboxId: 'm2' }), ofMailbox)).toBe('none');
    expect(interestIn(event({ mailboxId: null }), ofMailbox)).toBe('none');
    expect(interestIn(event({ mailboxId: null }), endpoint())).toBe('matches');
  });

  it('is those that a rule names, whatever they subscribe to', () => {
    const other = endpoint({ eventTypes: ['mail.sent'], mailboxIds: ['m2'] });
    expect(interestIn(event({ notifyWebhookIds: ['e1'] }), other)).toBe('matches');
    expect(interestIn(event({ notifyWebhookIds: ['e2'] }), other)).toBe('none');
  });

  it('is none that was made after it happened, but for what clocks may differ', () => {
    const later = endpoint({ createdAt: 20_000 });
    expect(interestIn(event({ occurredAt: 19_000 }), later)).toBe('matches');
    expect(interestIn(event({ occurredAt: 18_999 }), later)).toBe('none');
    expect(interestIn(event({ occurredAt: 18_999, notifyWebhookIds: ['e1'] }), later)).toBe('none');
  });

  it('depends on what a regular owner may read, and excludes them from what is outside of conversations', () => {
    const ofUser = endpoint({ ownerIsAdmin: false });
    expect(interestIn(event(), ofUser)).toBe('if_readable');
    expect(interestIn(event({ notifyWebhookIds: ['e1'] }), ofUser)).toBe('if_readable');
    expect(interestIn(event({ conversationId: null, mailboxId: null }), ofUser)).toBe('none');
  });
});
