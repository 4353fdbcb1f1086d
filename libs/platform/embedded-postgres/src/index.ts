export {
  embeddedBinaries,
  systemBinaries,
  unprivilegedUser,
  type OperatingSystemUser,
  type PostgresBinaries,
} from './binaries';
export {
  runningEmbeddedPostgres,
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from './embedded-postgres';
export { serverUrl } from './server-url';
export { scrubDatabases } from './scrub';
