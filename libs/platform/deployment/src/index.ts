export { banner } from './banner';
export {
  createBootstrap,
  withFirstPasswords,
  type Bootstrap,
  type MailAddresses,
} from './bootstrap';
export {
  lockDataFolder,
  openDataFolder,
  UNDER_WAY,
  writePrivateFile,
  type DataFolder,
  type Secrets,
} from './data-folder';
export {
  DATABASES,
  DATABASE_VARIABLES,
  namedDatabases,
  migrateAll,
  type DatabaseName,
  type DatabaseUrls,
} from './databases';
export { ADMIN_EMAIL, forgetFirstPassword, SUPERADMIN_EMAIL } from './first-passwords';
export { newFirstRunSecrets, type FirstRunSecrets } from './first-run-secrets';
export { lockJournalFolder } from './journal-lock';
export { readProcessName } from './process-name';
export { reachableHost, siteAddresses, type SiteAddresses } from './site-addresses';
