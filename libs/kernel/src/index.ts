export {
  displayPrefix,
  hasApiKeyPrefix,
  hashApiKey,
  isWellFormedApiKey,
  newApiKey,
} from './api-key';
export { systemClock, type Clock } from './clock';
export {
  asStorageFailure,
  ConflictError,
  DomainError,
  ERROR_KINDS,
  ForbiddenError,
  InvalidError,
  NotFoundError,
  RefusedError,
  StorageUnavailableError,
  UnavailableError,
  VersionMismatchError,
  type DomainErrorOptions,
  type ErrorKind,
} from './errors';
export { isUuid, uuidv4, uuidv7 } from './identifiers';
export {
  ROLES,
  SCOPES,
  seesWholeOrganization,
  type CredentialType,
  type Principal,
  type Role,
  type Scope,
} from './principal';
export { isOutage } from './outage';
