export { missingScope } from './access-check';
export { pageReply } from './page-reply';
export {
  idParams,
  pageFields,
  pageOf,
  queryBoolean,
  queryInteger,
  queryTime,
} from './query-fields';
export { defineProbe, defineRoute, type Route, type RouteContext, type RouteReply } from './route';
