export {
  documentReply,
  pageLinks,
  pageReply,
  servicePageReply,
  type ServiceDocument,
  type ServicePage,
} from './page-reply';
export {
  idParams,
  pageFields,
  pageOf,
  queryBoolean,
  queryInteger,
  queryTime,
} from './query-fields';
export {
  defineRoute,
  scopeRule,
  type Access,
  type AuditNote,
  type Method,
  type RateClass,
  type ResponseDefinition,
  type Route,
  type RouteContext,
  type RouteDefinition,
  type RouteReply,
  type ScopeRule,
} from './route';
