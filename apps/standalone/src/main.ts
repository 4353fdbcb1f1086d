import { readConfig } from '@dak/platform/config';
import { runUntilStopped } from '@dak/platform/lifecycle';
import { STANDALONE_VARIABLES, startStandalone } from './standalone';

void runUntilStopped(async () =>
  startStandalone(readConfig(STANDALONE_VARIABLES, process.env), process.env),
);
