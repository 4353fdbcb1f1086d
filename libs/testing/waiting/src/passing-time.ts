import { setTimeout as delay } from 'node:timers/promises';

/** Takes as long as a slow peer, handler or writer does. Not for waiting until something has happened. */
export function slowPeer(ms: number): Promise<void> {
  return delay(ms);
}

/** Lets time pass that is itself the subject: until an expiry, through a window, for the length of an outage. */
export function timePasses(ms: number): Promise<void> {
  return delay(ms);
}
