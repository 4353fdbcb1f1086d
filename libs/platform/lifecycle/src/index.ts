export { freePort } from './free-port';
export { runUntilStopped, type Running } from './run-until-stopped';
export { createRepeatingWorker, type RepeatingWorker } from './repeating-worker';
