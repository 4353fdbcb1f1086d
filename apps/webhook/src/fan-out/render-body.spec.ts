import type { PublicEvent } from '@dak/contracts/events';
import { MAX_BODY_BYTES, renderBody } from './render-body';

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

describe('the body of a webhook', () => {
  it('is the public event as it is', () => {
    const event = received({ subject: 'Grüße' });
    expect(parsed(renderBody(event))).toEqual(event);
  });

  it('is cut to 20 KiB and says so, keeping what names the event', () => {
    const to = Array.from({ length: 3_000 }, (_, i) => ({ email: `p${i}@example.com`, name: '' }));
    const body = renderBody(received({ to, subject: 'x' }));
    expect(body.length).toBeLessThanOrEqual(MAX_BODY_BYTES);
    const event = parsed(body);
    expect(event.data['truncated']).toBe(true);
    expect(event.data['conversation_id']).toBe('c');
    expect((event.data['to'] as unknown[]).length).toBeGreaterThan(0);
  });

  it('fits whatever comes', () => {
    const changes = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, i) => [`field_${i}`, { before: 'a', after: 'b' }]),
    );
    const body = renderBody(received({ changes }));
    expect(body.length).toBeLessThanOrEqual(MAX_BODY_BYTES);
    expect(parsed(body).sequence).toBe(7);
  });
});
