export { PollingLoop } from './polling-loop';
export { tryLockFile, type FileLock } from './file-lock';
export { freePort } from './free-port';
export { startInSteps, type OnStop } from './start-in-steps';
export { runUntilStopped, type Running } from './run-until-stopped';
export { createRepeatingWorker, type RepeatingWorker } from './repeating-worker';
