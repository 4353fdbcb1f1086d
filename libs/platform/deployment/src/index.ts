export { banner } from './banner';
export { createBootstrap, type Bootstrap, type MailAddresses } from './bootstrap';
export {
  lockDataFolder,
  openDataFolder,
  writePrivateFile,
  type DataFolder,
  type Secrets,
} from './data-folder';
export { DATABASES, migrateAll, type DatabaseName, type DatabaseUrls } from './databases';
export { holdOffline } from './hold-offline';
export { newFirstRunSecrets, type FirstRunSecrets } from './first-run-secrets';
export { readProcessName } from './process-name';
export { reachableHost, siteAddresses, type SiteAddresses } from './site-addresses';
