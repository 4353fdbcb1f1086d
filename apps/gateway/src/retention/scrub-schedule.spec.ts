import { UnavailableError } from '@dak/kernel';
import { createScrubSchedule } from './scrub-schedule';

const hourly = { isDaily: false, hasRemoved: false };
const daily = { isDaily: true, hasRemoved: false };

describe('scrubbing after retention', () => {
  it('comes once a day, also for what the rounds of the hours before have removed', async () => {
    let scrubbed = 0;
    const after = createScrubSchedule(async () => void (scrubbed += 1));
    await after(daily);
    await after({ ...hourly, hasRemoved: true });
    await after(hourly);
    expect(scrubbed).toBe(0);
    await after(daily);
    expect(scrubbed).toBe(1);
    await after(hourly);
    await after(daily);
    expect(scrubbed).toBe(1);
  });

  it('is tried again an hour later when a table was held', async () => {
    let scrubbed = 0;
    const after = createScrubSchedule(async () => {
      scrubbed += 1;
      if (scrubbed === 1) throw new UnavailableError('A table is held.');
    });
    await expect(after({ isDaily: true, hasRemoved: true })).rejects.toThrow('held');
    await after(hourly);
    await after(hourly);
    expect(scrubbed).toBe(2);
  });
});
