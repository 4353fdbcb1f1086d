import { leaveRunServers } from './run-server';

/** Stops the servers of this run unless another run of the same checkout still uses them. */
export default async function leaveTestServers(): Promise<void> {
  await leaveRunServers();
}
