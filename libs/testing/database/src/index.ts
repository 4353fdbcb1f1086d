export { startCluster, testPostgresUrl } from './postgres-server';
export { isAlive, joinRunServer, leaveRunServers, type RunServer } from './run-server';
export { createTestDatabase, type TestDatabase, type TestDatabaseOptions } from './test-database';
export { migrationsFolderOf } from './migrations-folder';
