export { runUntilStopped, type Running } from './run-until-stopped';
