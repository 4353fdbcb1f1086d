export {
  embeddedBinaries,
  systemBinaries,
  unprivilegedUser,
  type OperatingSystemUser,
  type PostgresBinaries,
} from './binaries';
export { startEmbeddedPostgres, type EmbeddedPostgres } from './embedded-postgres';
