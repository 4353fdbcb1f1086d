import { readMessage, readPlainly } from './read-message';
import { serveReadings } from './serve-readings';

serveReadings((raw, isPlain) => (isPlain ? readPlainly(raw) : readMessage(raw)));
