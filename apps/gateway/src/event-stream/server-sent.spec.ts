import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { HEARTBEAT, itemText, noticeText, placeText, PREAMBLE } from './server-sent';

/** As a browser reads it, in pieces. */
function read(text: string) {
  const events: EventSourceMessage[] = [];
  const seen = { events, comments: 0, retry: 0 };
  const parser = createParser({
    onEvent: (event) => events.push(event),
    onComment: () => (seen.comments += 1),
    onRetry: (ms) => (seen.retry = ms),
  });
  for (let at = 0; at < text.length; at += 3) parser.feed(text.slice(at, at + 3));
  return seen;
}

describe('the text of an event stream', () => {
  it('is read as what was written, one event after the other', () => {
    const body = JSON.stringify({ subject: 'line\nbreak\r\n\u2028 ä', id: 'x' });
    const item = { eventId: 'evt_1', type: 'mail.sent', body } as never;
    const { events, comments, retry } = read(
      PREAMBLE + itemText(item) + HEARTBEAT + noticeText('close', { reason: 'stopping' }),
    );
    expect(events).toEqual([
      { id: 'evt_1', event: 'mail.sent', data: body },
      { id: undefined, event: 'close', data: '{"reason":"stopping"}' },
    ]);
    expect([comments, retry]).toEqual([2, 2_000]);
  });

  it('has places that are no events', () => {
    expect(read(placeText('pos_1')).events).toEqual([]);
  });
});
