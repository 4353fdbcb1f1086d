import { eventEnvelope } from './event-envelope';
import { publicEvent } from './public-event';

const FACTS = {
  source: 'mail',
  organizationId: '0195f0a2-7a7e-7c11-8a53-0f4e4d1f2b12',
  partitionKey: 'key',
  sequence: 3,
  occurredAt: 1_770_000_000_000,
  actor: { type: 'system', id: null, name: 'Dak' },
};
const DATA = { domainId: 'd', domain: 'dak.example', records: ['spf'] };

describe('the envelope of an event', () => {
  it('carries what the event shows', () => {
    const envelope = eventEnvelope('domain.verified', FACTS, DATA);
    expect(envelope).toMatchObject({
      type: 'domain.verified',
      dataSchema: 'dak.events.v1.DomainVerified',
      partitionKey: 'key',
    });
    expect(publicEvent(envelope)).toMatchObject({
      id: envelope.id,
      timestamp: '2026-02-02T02:40:00.000Z',
      sequence: 3,
      data: {
        conversation_id: null,
        actor: { type: 'system', id: null, name: 'Dak' },
        domain_id: 'd',
        domain: 'dak.example',
        records: ['spf'],
      },
    });
  });

  it('has the data of its kind and of no other', () => {
    // @ts-expect-error A sent mail has other data.
    expect(() => eventEnvelope('mail.sent', FACTS, DATA)).toThrow();
  });

  it('of a kind that this version does not know is not shown', () => {
    const envelope = eventEnvelope('domain.verified', FACTS, DATA);
    expect(publicEvent({ ...envelope, type: 'toString' })).toBeNull();
  });
});
