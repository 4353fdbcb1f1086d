import { EVENT_DATA, PublicEventRecord } from '../api';
import { exampleEvent } from './example-event';
import { EVENT_KINDS } from './topics';

const FACTS = {
  id: 'evt_0199c2a4-6d3e-7c11-9a55-2f60b1d0a00b',
  organizationId: '0199c2a4-6d3e-7c11-9a55-2f60b1d0a00c',
  at: new Date(1_770_000_000_000),
};

describe('the example of an event', () => {
  it.each(EVENT_KINDS)('of the kind %s is as documented', (kind) => {
    const event = exampleEvent(kind, FACTS);
    expect(PublicEventRecord.parse(event)).toEqual(event);
    expect(EVENT_DATA[kind].parse(event.data)).toEqual(event.data);
  });
});
