import { EVENT_DATA, PublicEventRecord } from '@dak/contracts/api';
import { EVENT_KINDS } from '@dak/contracts/events';
import { uuidv7 } from '@dak/kernel';
import { sampleEvent } from './sample-event';

describe('sample events', () => {
  it.each(EVENT_KINDS)('of %s are as documented', (kind) => {
    const event = sampleEvent(kind, uuidv7(), `evt_${uuidv7()}`, new Date(1_770_000_000_000));
    expect(PublicEventRecord.parse(event)).toEqual(event);
    expect(EVENT_DATA[kind].parse(event.data)).toEqual(
      Object.fromEntries(Object.entries(event.data).filter(([name]) => name !== 'test')),
    );
  });
});
