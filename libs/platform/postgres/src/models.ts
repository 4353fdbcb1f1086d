import { AsyncLocalStorage } from 'node:async_hooks';
import { PrismaPg } from '@prisma/adapter-pg';
import type {
  Transaction as AdapterTransaction,
  SqlDriverAdapter,
  SqlDriverAdapterFactory,
  SqlResultSet,
} from '@prisma/driver-adapter-utils';
import pg from 'pg';
import type { Database, Transaction, TransactionOptions } from './database';
import type { RowFormat } from './sql';
import { statementName } from './statement-name';

/** A transaction of {@link Database}: `db` for ordinary records, `query` for SQL beside them, on one connection. */
export interface ModelTransaction<Db> extends Transaction {
  readonly db: Db;
}

/** What a generated Prisma client offers for this; `Db` is its `Prisma.TransactionClient`. */
interface ModelClient<Db> {
  $transaction<T>(
    work: (db: Db) => Promise<T>,
    options: { maxWait: number; timeout: number },
  ): Promise<T>;
}

const ADAPTER = { provider: 'postgres', adapterName: 'dak' } as const;
/** Limits of statements and of idle transactions are set by {@link Database}; Prisma sets no others. */
const NO_LIMITS = { maxWait: 2 ** 31 - 1, timeout: 2 ** 31 - 1 };

/**
 * A service's Prisma client inside the transactions of its {@link Database}: what it asks runs on their
 * connection, between their statements, held to their tenant. Database alone begins, repeats and ends them.
 * What fails with an error of the server fails here as hand-written SQL does. There is nothing to close.
 */
export class Models<Db> {
  readonly #database: Database;
  readonly #client: ModelClient<Db>;
  /** The transaction that Prisma is about to enter: its interface has no parameter for it. */
  readonly #entered = new AsyncLocalStorage<Transaction>();

  constructor(
    database: Database,
    createClient: (adapter: SqlDriverAdapterFactory) => ModelClient<Db>,
  ) {
    this.#database = database;
    this.#client = createClient({ ...ADAPTER, connect: () => Promise.resolve(this.#adapter()) });
  }

  /** As {@link Database.inTenant}. */
  inTenant<T>(
    organizationId: string,
    work: (tx: ModelTransaction<Db>) => Promise<T>,
    options?: TransactionOptions,
  ): Promise<T> {
    return this.#database.inTenant(organizationId, (tx) => this.#within(tx, work), options);
  }

  /** As {@link Database.asWorker}. */
  asWorker<T>(
    work: (tx: ModelTransaction<Db>) => Promise<T>,
    options?: TransactionOptions,
  ): Promise<T> {
    return this.#database.asWorker((tx) => this.#within(tx, work), options);
  }

  /** As {@link Database.asWorkerOf}. */
  asWorkerOf<T>(
    organizationId: string,
    work: (tx: ModelTransaction<Db>) => Promise<T>,
    options?: TransactionOptions,
  ): Promise<T> {
    return this.#database.asWorkerOf(organizationId, (tx) => this.#within(tx, work), options);
  }

  #within<T>(tx: Transaction, work: (tx: ModelTransaction<Db>) => Promise<T>): Promise<T> {
    return this.#entered
      .run(tx, () => this.#client.$transaction((db) => work({ ...tx, db }), NO_LIMITS))
      .catch((error: unknown) => {
        throw error instanceof ModelError ? error.cause : error;
      });
  }

  #adapter(): SqlDriverAdapter {
    const outside = () => Promise.reject(new Error('Models are used inside of transactions only.'));
    return {
      ...ADAPTER,
      queryRaw: outside,
      executeRaw: outside,
      executeScript: outside,
      startTransaction: async () => {
        const tx = this.#entered.getStore();
        return tx === undefined ? outside() : enter(tx);
      },
      getConnectionInfo: () => ({ supportsRelationJoins: true }),
      dispose: () => Promise.resolve(),
    };
  }
}

/**
 * The client collects finds of one tick, whoever asks them, and sends them in the context of the first: so
 * what is asked reaches its transaction through this object and not through AsyncLocalStorage.
 */
async function enter(tx: Transaction): Promise<AdapterTransaction> {
  const connection = new TransactionConnection(tx);
  // Prisma's own driver turns its values into those of PostgreSQL and back.
  const driver = await new PrismaPg(connection.asPool).connect();
  return {
    ...ADAPTER,
    // Prisma sends no `begin` and no `commit` of its own.
    options: { usePhantomQuery: true },
    queryRaw: (query): Promise<SqlResultSet> => connection.explain(driver.queryRaw(query)),
    executeRaw: (query): Promise<number> => connection.explain(driver.executeRaw(query)),
    commit: () => Promise.resolve(),
    rollback: () => Promise.resolve(),
  };
}

/** One transaction as the pool that Prisma's driver expects: it asks it for `query` only. */
class TransactionConnection {
  #failure: unknown;
  readonly asPool: pg.Pool;

  constructor(tx: Transaction) {
    const query = async ({ text, values, rowMode, types }: pg.QueryConfig & RowFormat) => {
      try {
        const name = statementName(text, 'model');
        return await tx.ask({ name, text, values: values ?? [], format: { rowMode, types } });
      } catch (error) {
        this.#failure = error;
        throw error;
      }
    };
    this.asPool = Object.assign(new pg.Pool(), { query });
  }

  /** Fails with what the server said where the driver says it in its own words. */
  explain<T>(answer: Promise<T>): Promise<T> {
    return answer.catch((error: unknown) => {
      throw new ModelError(this.#failure ?? error);
    });
  }
}

/** Errors that have a code become Prisma's own, without the rest of what they say; this one passes as it is. */
class ModelError extends Error {
  override readonly name = 'ModelError';

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : 'The statement failed.', { cause });
  }
}
