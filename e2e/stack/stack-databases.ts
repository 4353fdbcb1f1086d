import { Client } from 'pg';
import { serviceVariable } from '@dak/platform/config';
import { DATABASES, type DatabaseName, type DatabaseUrls } from '@dak/platform/deployment';
import { createTestDatabase, migrationsFolderOf, type TestDatabase } from '@dak/testing/database';

export type StackDatabases = Record<DatabaseName, TestDatabase>;

/** One for each service and the log, each with its tables. */
export async function stackDatabases(undo: (() => unknown)[]): Promise<StackDatabases> {
  const databases: Partial<StackDatabases> = {};
  for (const name of DATABASES) databases[name] = await stackDatabase(name, undo);
  return databases as StackDatabases;
}

/** Another one with the tables of this one. */
export async function stackDatabase(
  name: DatabaseName,
  undo: (() => unknown)[],
): Promise<TestDatabase> {
  const migrationsFolder = migrationsFolderOf(name);
  const database = await createTestDatabase({ name, migrationsFolder });
  undo.push(() => database.drop());
  return database;
}

/** Under their runtime roles. */
export function databaseUrls(databases: StackDatabases): DatabaseUrls {
  return Object.fromEntries(DATABASES.map((name) => [name, databases[name].url])) as DatabaseUrls;
}

/** Where the processes of a distributed run find each database. */
export function databaseSettings(databases: StackDatabases): Record<string, string> {
  return Object.fromEntries(
    DATABASES.map((name) => [serviceVariable(name, 'DATABASE_URL'), databases[name].url]),
  );
}

export async function withDatabase<T>(
  url: string,
  work: (database: Client) => Promise<T>,
): Promise<T> {
  const database = new Client({ connectionString: url });
  await database.connect();
  try {
    return await work(database);
  } finally {
    await database.end();
  }
}
