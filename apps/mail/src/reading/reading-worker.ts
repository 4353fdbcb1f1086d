import { readMessage } from './read-message';
import { serveReadings } from './serve-readings';

serveReadings(readMessage);
