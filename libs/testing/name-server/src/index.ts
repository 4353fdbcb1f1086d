export { startNameServer, type NameServer, type Zone } from './name-server';
