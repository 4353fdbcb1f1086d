import { workerData } from 'node:worker_threads';
import { readMessage, readPlainly } from './receiving/reading/read-message';
import { serveReadings } from './receiving/reading/serve-readings';
import { servePatterns } from './rules/evaluation/serve-patterns';

/** What runs in worker threads of the mail service: one bundle, two tasks. */
const task = workerData as { patterns?: true };
if (task.patterns === true) servePatterns();
else serveReadings((raw, isPlain) => (isPlain ? readPlainly(raw) : readMessage(raw)));
