export { Database, isUniqueViolation, type DatabaseOptions, type Transaction } from './database';
export { applyMigrations, type MigrationReport, type MigrationTarget } from './migrations';
export type { PreparedStatement, SqlExecutor } from './sql';
export { toRfc3339 } from './timestamps';
