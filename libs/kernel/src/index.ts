export { actorOf, SYSTEM, type Actor, type ActorType } from './actor';
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
  ForbiddenError,
  InvalidError,
  NotFoundError,
  RefusedError,
  StorageUnavailableError,
  UnavailableError,
  VersionMismatchError,
  type DomainErrorArguments,
  type DomainErrorOptions,
} from './errors';
export { ERROR_KINDS, type ErrorKind } from './error-kinds';
export {
  ERROR_CODES,
  OPERATING_CODES,
  PROTOCOL_CODES,
  type ErrorCode,
  type ReplyCode,
} from './error-codes';
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
export { isOutage, outageAsUnavailable } from './outage';
