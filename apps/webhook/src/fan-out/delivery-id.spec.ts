import { isUuid, uuidv7 } from '@dak/kernel';
import { deliveryId, leastIdOf, uuidOfEvent } from './delivery-id';

describe('deliveryId', () => {
  /** As uuidv7 makes them, at a time of our choice. */
  const eventAt = (at: number): string => `${leastIdOf(at).slice(0, 13)}-7${uuidv7().slice(15)}`;
  const event = eventAt(1_770_000_000_000);
  const endpoint = uuidv7();

  it('is the same for the same event and endpoint, and another for any other', () => {
    expect(deliveryId(event, endpoint)).toBe(deliveryId(event, endpoint));
    expect(deliveryId(event, endpoint)).not.toBe(deliveryId(event, uuidv7()));
    expect(deliveryId(event, endpoint)).not.toBe(deliveryId(event, endpoint, 'again'));
    expect(deliveryId(event, endpoint)).not.toBe(deliveryId(uuidv7(), endpoint));
  });

  it('is a UUIDv7 that sorts by the time of its event', () => {
    const ids = Array.from({ length: 200 }, (_, i) =>
      deliveryId(eventAt(1_770_000_000_000 + i), endpoint),
    );
    for (const id of ids) {
      expect(isUuid(id)).toBe(true);
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }
    expect([...ids].sort()).toEqual(ids);
  });

  it('lies between the bounds of its time', () => {
    const id = deliveryId(event, endpoint);
    expect(id >= leastIdOf(1_770_000_000_000)).toBe(true);
    expect(id < leastIdOf(1_770_000_000_001)).toBe(true);
  });
});

describe('uuidOfEvent', () => {
  it('takes the prefix off and refuses ids of another shape', () => {
    const uuid = uuidv7();
    expect(uuidOfEvent(`evt_${uuid}`)).toBe(uuid);
    expect(() => uuidOfEvent(uuid)).toThrow('is not evt_ and a UUID');
    expect(() => uuidOfEvent('evt_x')).toThrow('is not evt_ and a UUID');
  });
});
