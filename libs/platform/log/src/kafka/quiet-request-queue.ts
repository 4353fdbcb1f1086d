import RequestQueue from 'kafkajs/src/network/requestQueue';

let quiet = false;

/**
 * kafkajs 2.2.4 arms a timer of `throttledUntil - now` milliseconds after every request, even with
 * nothing pending: as `throttledUntil` starts at -1 it is negative, so that an idle connection wakes
 * every millisecond for ever (5.7 % of a core against 1.2 %, and a warning of Node 24;
 * tulios/kafkajs#1751). A timer is needed only while requests wait or the broker throttles.
 */
export function quietRequestQueues(): void {
  if (quiet) return;
  quiet = true;
  const { prototype } = RequestQueue;
  const schedule: (this: RequestQueue) => void = prototype.scheduleCheckPendingRequests;
  prototype.scheduleCheckPendingRequests = function (): void {
    if (this.pending.length > 0 || this.throttledUntil > Date.now()) schedule.call(this);
  };
}
