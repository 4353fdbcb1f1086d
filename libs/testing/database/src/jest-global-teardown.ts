import { failHangingRun } from './fail-hanging-run';
import { leaveRunServers } from './run-server';

/** Stops the servers of this run unless another run of the same checkout still uses them. */
export default async function leaveTestServers({ watch, watchAll }: Mode): Promise<void> {
  await leaveRunServers();
  if (!watch && !watchAll) failHangingRun();
}

/** From jest's configuration. */
interface Mode {
  readonly watch: boolean;
  readonly watchAll: boolean;
}
