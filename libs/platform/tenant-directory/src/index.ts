export { connectedRegistry, type ConnectedRegistry } from './connected-registry';
export { findPeople, saveCaller, type Person } from './directory-store';
export { formerTenantHandlers } from './former-contracts';
export { createTenantHandlers, type TenantHandlers } from './handlers';
export { openDirectoryAlone, type DirectoryAlone } from './open-directory-alone';
export { nothingToDo, type StopSwitch, type TenantDirectoryParts } from './tenant-directory-parts';
