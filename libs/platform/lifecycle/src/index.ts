export { freePort } from './free-port';
export { runUntilStopped, type Running } from './run-until-stopped';
