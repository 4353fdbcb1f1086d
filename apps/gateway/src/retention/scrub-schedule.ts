/**
 * Scrubs once a day if anything was removed since the last time, and again with the next round where that failed.
 * @returns a callback for the end of every round
 */
export function createScrubSchedule(
  scrub: () => Promise<void>,
): (round: { isDaily: boolean; hasRemoved: boolean }) => Promise<void> {
  let isNeeded = false;
  let isOverdue = false;
  return async ({ isDaily, hasRemoved }) => {
    isNeeded ||= hasRemoved;
    if (!isNeeded || !(isDaily || isOverdue)) return;
    isOverdue = true;
    await scrub();
    isNeeded = isOverdue = false;
  };
}
