export { createSelfSignedCertificate, type SelfSignedOptions } from './self-signed-certificate';
export {
  pemPaths,
  watchTlsFiles,
  type PemPaths,
  type TlsFiles,
  type TlsFilesLog,
} from './tls-files';
export { type PemPair } from './pem-pair';
