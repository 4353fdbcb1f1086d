export { applyMigrations, type MigrationReport, type MigrationTarget } from './apply-migrations';
