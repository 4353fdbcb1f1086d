/** The part of kafkajs that its types leave out and `quiet-request-queue.ts` mends. */
declare module 'kafkajs/src/network/requestQueue' {
  class RequestQueue {
    pending: readonly unknown[];
    throttledUntil: number;
    scheduleCheckPendingRequests: (this: RequestQueue) => void;
  }
  export = RequestQueue;
}
