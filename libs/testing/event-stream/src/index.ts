export { StreamClient } from './stream-client';
