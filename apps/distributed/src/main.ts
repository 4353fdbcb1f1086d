import { runUntilStopped } from '@dak/platform/lifecycle';
import { readDistributedConfig } from './config';
import { startDistributed } from './distributed';
import { replicaCounts } from './replica-counts';

void runUntilStopped(async () =>
  startDistributed(
    readDistributedConfig(process.env),
    replicaCounts(process.argv.slice(2)),
    process.env,
  ),
);
