export {
  Database,
  IDLE_IN_TRANSACTION_MS,
  isUniqueViolation,
  type DatabaseOptions,
  type Transaction,
  type TransactionOptions,
} from './database';
export type { PreparedStatement, SqlExecutor } from './sql';
export { Models, type ModelTransaction } from './models';
export { rowParameters, type RowParameters } from './row-parameters';
export { insertOfRow, insertOfRows, tableColumns, type TableColumns } from './table-columns';
export { statementName } from './statement-name';
export { toRfc3339 } from './timestamps';
export { tookTooLong } from './unavailable';
export { eraseTenant, tenantTables, type EraseOptions } from './erase-tenant';
