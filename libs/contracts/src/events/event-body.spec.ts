import { EVENT_DATA } from '../api/event-data';
import { EventEnvelope } from '../generated/dak/events/v1/envelope';
import { MailReceived } from '../generated/dak/events/v1/mail_events';
import { MAX_EVENT_BYTES, eventBody } from './event-body';
import { publicEvent, type PublicEvent } from './public-event';

function received(data: Record<string, unknown>): PublicEvent {
  return {
    id: 'evt_0195f0a2-7a7e-7c11-8a53-0f4e4d1f2b11',
    type: 'mail.received',
    timestamp: '2026-11-21T10:00:00.000Z',
    api_version: 'v1',
    organization_id: '0195f0a2-7a7e-7c11-8a53-0f4e4d1f2b12',
    sequence: 7,
    data: { mailbox_id: 'm', conversation_id: 'c', ...data },
  };
}
const parsed = (body: Buffer): PublicEvent => JSON.parse(body.toString('utf8')) as PublicEvent;

describe('the JSON of an event', () => {
  it('is the public event as it is', () => {
    const event = received({ subject: 'Grüße' });
    expect(parsed(eventBody(event))).toEqual(event);
  });

  it('is cut to 20 KiB and says so, keeping what names the event', () => {
    const to = Array.from({ length: 3_000 }, (_, i) => ({ email: `p${i}@example.com`, name: '' }));
    const body = eventBody(received({ to, subject: 'x' }));
    expect(body.length).toBeLessThanOrEqual(MAX_EVENT_BYTES);
    const event = parsed(body);
    expect(event.data['truncated']).toBe(true);
    expect(event.data['conversation_id']).toBe('c');
    expect((event.data['to'] as unknown[]).length).toBeGreaterThan(0);
  });

  it('is what its schema says, cut or not', () => {
    const person = { email: `${'long.'.repeat(12)}name@customer.example`, name: 'Ada' };
    for (const count of [1, 3_000]) {
      const data = MailReceived.fromPartial({
        subject: 'x'.repeat(998),
        from: person,
        to: Array.from({ length: count }, () => person),
        kind: 'human',
        receivedAt: new Date(1_760_000_000_000),
      });
      const envelope = EventEnvelope.fromPartial({
        id: 'evt_0195f0a2-7a7e-7c11-8a53-0f4e4d1f2b11',
        type: 'mail.received',
        organizationId: '0195f0a2-7a7e-7c11-8a53-0f4e4d1f2b12',
        mailboxId: '0195f0a2-7a7e-7c11-8a53-0f4e4d1f2b13',
        data: Buffer.from(MailReceived.encode(data).finish()),
      });
      const shown = EVENT_DATA['mail.received'].parse(
        parsed(eventBody(publicEvent(envelope)!)).data,
      );
      expect(shown.truncated).toBe(count > 1 ? true : undefined);
    }
  });

  it('fits whatever comes', () => {
    const changes = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, i) => [`field_${i}`, { before: 'a', after: 'b' }]),
    );
    const body = eventBody(received({ changes }));
    expect(body.length).toBeLessThanOrEqual(MAX_EVENT_BYTES);
    expect(parsed(body).sequence).toBe(7);
  });
});
