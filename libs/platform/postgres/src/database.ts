import { EventEmitter } from 'node:events';
import pg from 'pg';
import { asStorageFailure, InvalidError, UnavailableError, isUuid } from '@dak/kernel';
import { PipelinedQuery } from './pipelined-query';
import type { PreparedStatement, SqlExecutor } from './sql';
import { StatementQueue } from './statement-queue';
import { DAK_TYPES } from './timestamps';

export interface DatabaseOptions {
  /** Of the service's runtime role: it owns no table and cannot bypass row-level security. */
  url: string;
  /** Connections at most. Two cores gain nothing above ten. @default 8 */
  maxConnections?: number;
  /** What `pg_stat_activity` shows. */
  applicationName: string;
}

/**
 * A transaction with its tenant set; everything it reads and writes is held to that tenant by RLS.
 * Statements that are asked without waiting for each other share a round trip and run in their order.
 */
export interface Transaction extends SqlExecutor {
  /** Runs once the commit is durable; not at all when the transaction fails. Must not throw. */
  afterCommit(effect: () => void): void;
  signal(name: string): void;
}

const BEGIN: PreparedStatement = { name: 'dak_begin', text: 'begin', values: [] };
const SET_WORKER: PreparedStatement = {
  name: 'dak_set_worker',
  text: `select set_config('dak.worker', 'on', true)`,
  values: [],
};
const ATTEMPTS = 4;
const RETRYABLE = new Set(['40001', '40P01']);

/**
 * One service's PostgreSQL. Every statement runs in a transaction whose transaction-local setting
 * names the tenant; row-level security compares it (`dak_tenant()` in the migrations), so a query
 * that forgets its tenant returns nothing. Background workers that have to look across tenants (the
 * queues, the address directory) say so with `asWorker`; policies admit them to those tables only.
 */
export class Database {
  readonly pool: pg.Pool;
  readonly #signals = new EventEmitter().setMaxListeners(0);

  constructor(options: DatabaseOptions) {
    this.pool = new pg.Pool({
      connectionString: options.url,
      max: options.maxConnections ?? 8,
      idleTimeoutMillis: 30_000,
      connectionTimeoutMillis: 10_000,
      application_name: options.applicationName,
      // Compiling takes seconds, and our statements take milliseconds whatever their estimated cost.
      options: '-c timezone=UTC -c idle_in_transaction_session_timeout=60000 -c jit=off',
      types: DAK_TYPES,
    });
    // A connection that dies (server restart) fails the statement that runs on it, or the next one;
    // without these listeners it would end the process when it dies between two statements.
    this.pool.on('error', () => undefined);
    this.pool.on('connect', (client) => client.on('error', () => undefined));
  }

  /** One transaction for one tenant; retried as a whole on deadlock or serialization failure, so `work` must have no effect outside it. */
  inTenant<T>(organizationId: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    if (!isUuid(organizationId)) throw new InvalidError('organization_id must be a UUID.');
    return this.transaction(setTenant(organizationId), work);
  }

  /** One transaction of a background worker over the tables whose policies admit workers. */
  asWorker<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.transaction(SET_WORKER, work);
  }

  /** Prepared statements for one tenant in a single round trip; they share one transaction. Rows per statement, in order. */
  async batchInTenant(
    organizationId: string,
    statements: readonly PreparedStatement[],
  ): Promise<Record<string, unknown>[][]> {
    return this.batch([setTenant(organizationId), ...statements]);
  }

  /** As {@link batchInTenant}, for a background worker. */
  async batchAsWorker(
    statements: readonly PreparedStatement[],
  ): Promise<Record<string, unknown>[][]> {
    return this.batch([SET_WORKER, ...statements]);
  }

  /** Runs `listener`, which must not throw, after every commit whose transaction gave the signal. @returns what ends it */
  onSignal(name: string, listener: () => void): () => void {
    this.#signals.on(name, listener);
    return () => this.#signals.off(name, listener);
  }

  /** Rejects with {@link UnavailableError} when the server does not answer; what `/readyz` asks. */
  async ping(): Promise<void> {
    try {
      await this.pool.query('select 1');
    } catch (cause) {
      throw new UnavailableError('The database does not answer.', 1, cause);
    }
  }

  async close(): Promise<void> {
    await this.pool.end();
  }

  private async batch(statements: PreparedStatement[]): Promise<Record<string, unknown>[][]> {
    const client = await this.connect();
    const query = new PipelinedQuery(statements, DAK_TYPES);
    try {
      client.query(query);
      const results = await query.done;
      client.release();
      return results.slice(1).map((result) => result.rows as Record<string, unknown>[]);
    } catch (error) {
      client.release(isServerError(error) ? undefined : (error as Error));
      throw asStorageFailure(error);
    }
  }

  private async transaction<T>(
    scope: PreparedStatement,
    work: (tx: Transaction) => Promise<T>,
  ): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const client = await this.connect();
      const effects: (() => void)[] = [];
      const signals = new Set<string>();
      const statements = new StatementQueue(client, [BEGIN, scope]);
      try {
        const result = await work({
          query: (text, values) => run(statements, text, values),
          afterCommit: (effect) => effects.push(effect),
          signal: (name) => signals.add(name),
        });
        if (statements.hasBegun) await client.query('commit');
        client.release();
        for (const effect of effects) effect();
        for (const name of signals) this.#signals.emit(name);
        return result;
      } catch (error) {
        await rollBack(client, error);
        if (attempt < ATTEMPTS && RETRYABLE.has(codeOf(error))) continue;
        throw asStorageFailure(error);
      }
    }
  }

  private async connect(): Promise<pg.PoolClient> {
    try {
      return await this.pool.connect();
    } catch (cause) {
      throw new UnavailableError(
        'The database cannot be reached. Try again in a moment.',
        1,
        cause,
      );
    }
  }
}

function setTenant(organizationId: string): PreparedStatement {
  return {
    name: 'dak_set_tenant',
    text: `select set_config('dak.organization_id', $1, true)`,
    values: [organizationId],
  };
}

async function run<Row>(
  statements: StatementQueue,
  text: string,
  values: readonly unknown[] = [],
): Promise<{ rows: Row[]; rowCount: number }> {
  const result = await statements.ask(text, values);
  return { rows: result.rows as Row[], rowCount: result.rowCount ?? 0 };
}

async function rollBack(client: pg.PoolClient, cause: unknown): Promise<void> {
  try {
    await client.query('rollback');
    client.release();
  } catch {
    client.release(cause instanceof Error ? cause : new Error('rollback failed'));
  }
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}

/** An error the server reported leaves the connection usable; a broken socket does not. */
function isServerError(error: unknown): boolean {
  return /^[0-9A-Z]{5}$/.test(codeOf(error));
}

/** True when a unique constraint refused the row; `constraint` narrows it to one. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  if (codeOf(error) !== '23505') return false;
  return constraint === undefined || (error as { constraint?: string }).constraint === constraint;
}
