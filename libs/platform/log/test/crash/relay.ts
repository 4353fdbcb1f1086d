import { OutboxRelay } from '../../src/index';
import { LEASE_MS, RELAY_BATCH, ignore, onStop, openService, openStageLog } from './stage';

async function main(): Promise<void> {
  const log = await openStageLog();
  const source = openService('relay');
  const relay = new OutboxRelay({
    source,
    channel: log.openRelay('mail', `relay ${process.pid}`),
    leaseMs: LEASE_MS,
    maxBatch: RELAY_BATCH,
    onError: ignore,
  });
  relay.start();
  onStop(async () => {
    await relay.stop();
    await log.close();
    await source.close();
  });
}

void main();
