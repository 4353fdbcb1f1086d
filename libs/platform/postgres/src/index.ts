export {
  Database,
  IDLE_IN_TRANSACTION_MS,
  isUniqueViolation,
  type DatabaseOptions,
  type Transaction,
} from './database';
export type { PreparedStatement, SqlExecutor } from './sql';
export { insertOfRows, tableColumns, type TableColumns } from './table-columns';
export { statementName } from './statement-name';
export { toRfc3339 } from './timestamps';
export { tookTooLong } from './unavailable';
export { eraseTenant, tenantTables, type EraseOptions } from './erase-tenant';
