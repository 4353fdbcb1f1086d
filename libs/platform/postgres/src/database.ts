import { EventEmitter } from 'node:events';
import pg from 'pg';
import type { Registry } from 'prom-client';
import { asStorageFailure, InvalidError, UnavailableError, isUuid } from '@dak/kernel';
import { PipelinedQuery } from './pipelined-query';
import { registerPool, type PoolMetrics } from './pool-metrics';
import { ServerWatch } from './server-watch';
import type { Answer, PreparedStatement, SqlExecutor } from './sql';
import { statementName } from './statement-name';
import { StatementQueue } from './statement-queue';
import { DAK_TYPES } from './timestamps';
import { asUnavailable } from './unavailable';

export interface DatabaseOptions {
  /** URL with the service's runtime role, which owns no table and cannot bypass row-level security. */
  url: string;
  /** Connections at most. Two cores gain nothing above ten. @default 8 */
  maxConnections?: number;
  /** What `pg_stat_activity` shows. */
  applicationName: string;
  /** Statement timeout; 0 = none, for long-running programs. @default 30000 */
  statementTimeoutMs?: number;
  /** Use of the connections is counted here. */
  metrics?: Registry;
}

/** For transactions that are not like the others. */
export interface TransactionOptions {
  /** Statement timeout of a background job that needs long. */
  statementTimeoutMs?: number;
}

/**
 * A transaction with its tenant set; everything it reads and writes is held to that tenant by RLS.
 * Statements that are asked without waiting for each other share a round trip and run in their order.
 */
export interface Transaction extends SqlExecutor {
  /** As `query`, for statements of another library, whose rows have a format of their own. */
  ask(statement: PreparedStatement): Promise<Answer>;
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
const STATEMENT_TIMEOUT_MS = 30_000;
/**
 * A process that stops in the middle of a transaction, frozen or cut off, keeps its locks until the server
 * ends it; all who wait for them have to get their answer within ten seconds.
 */
export const IDLE_IN_TRANSACTION_MS = 5_000;
/** Who waits for an answer gets none after ten seconds: this and the answer that follows have to fit. */
const CONNECT_WITHIN_MS = 7_000;
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
  readonly #watch: ServerWatch;
  readonly #metrics: PoolMetrics | null;
  readonly #guard = <T>(work: Promise<T>): Promise<T> => this.#watch.guard(work);

  constructor(options: DatabaseOptions) {
    const statementTimeoutMs = options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS;
    this.pool = new pg.Pool({
      connectionString: options.url,
      max: options.maxConnections ?? 8,
      idleTimeoutMillis: 30_000,
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
      application_name: options.applicationName,
      // Compiling takes seconds, and our statements take milliseconds whatever their estimated cost.
      options: `-c timezone=UTC -c idle_in_transaction_session_timeout=${IDLE_IN_TRANSACTION_MS} -c statement_timeout=${statementTimeoutMs} -c jit=off`,
      types: DAK_TYPES,
    });
    this.#watch = new ServerWatch(options.url);
    this.#metrics =
      options.metrics === undefined
        ? null
        : registerPool(options.metrics, options.applicationName, this.pool);
    // A connection that dies (server restart) fails the statement that runs on it, or the next one;
    // without these listeners it would end the process when it dies between two statements.
    this.pool.on('error', () => undefined);
    this.pool.on('connect', (client) => client.on('error', () => undefined));
  }

  /** One transaction for one tenant; retried as a whole on deadlock or serialization failure, so `work` must have no effect outside it. */
  inTenant<T>(
    organizationId: string,
    work: (tx: Transaction) => Promise<T>,
    options: TransactionOptions = {},
  ): Promise<T> {
    requireTenant(organizationId);
    return this.transaction([setTenant(organizationId), ...limits(options)], work);
  }

  /** One transaction of a background worker over the tables whose policies admit workers. */
  asWorker<T>(work: (tx: Transaction) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    return this.transaction([SET_WORKER, ...limits(options)], work);
  }

  /** As {@link asWorker}, and beside that in one tenant, whose rows it may write. */
  asWorkerOf<T>(
    organizationId: string,
    work: (tx: Transaction) => Promise<T>,
    options: TransactionOptions = {},
  ): Promise<T> {
    requireTenant(organizationId);
    return this.transaction([setTenant(organizationId), SET_WORKER, ...limits(options)], work);
  }

  /**
   * As `work`, which uses {@link pool} or another connection to the same server: fails with
   * {@link UnavailableError} instead of waiting for a server that is away.
   */
  whileHere<T>(work: () => Promise<T>): Promise<T> {
    this.#watch.requireHere();
    return this.#guard(work());
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
      await this.whileHere(() => this.pool.query('select 1'));
    } catch (cause) {
      throw new UnavailableError('The database does not answer.', 1, cause);
    }
  }

  async close(): Promise<void> {
    this.#watch.close();
    await this.pool.end();
  }

  private async batch(statements: PreparedStatement[]): Promise<Record<string, unknown>[][]> {
    const client = await this.connect();
    const query = new PipelinedQuery(statements, DAK_TYPES);
    try {
      client.query(query);
      const results = await this.#guard(query.done);
      client.release();
      return results.slice(1).map(({ rows }) => rows as Record<string, unknown>[]);
    } catch (error) {
      client.release(isServerError(error) ? undefined : (error as Error));
      throw asUnavailable(asStorageFailure(error));
    }
  }

  private async transaction<T>(
    scope: readonly PreparedStatement[],
    work: (tx: Transaction) => Promise<T>,
  ): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const client = await this.connect();
      const effects: (() => void)[] = [];
      const signals = new Set<string>();
      const statements = new StatementQueue(client, [BEGIN, ...scope], this.#guard);
      try {
        const result = await work({
          query: (text, values) => run(statements, text, values),
          ask: (statement) => statements.ask(statement),
          afterCommit: (effect) => effects.push(effect),
          signal: (name) => signals.add(name),
        });
        if (statements.hasBegun) await this.#guard(client.query('commit'));
        client.release();
        for (const effect of effects) effect();
        for (const name of signals) this.#signals.emit(name);
        return result;
      } catch (error) {
        await this.rollBack(client, error);
        if (attempt < ATTEMPTS && RETRYABLE.has(codeOf(error))) continue;
        throw asUnavailable(asStorageFailure(error));
      }
    }
  }

  private async rollBack(client: pg.PoolClient, cause: unknown): Promise<void> {
    // A server that is away would not hear of it: it rolls back when it finds the connection closed.
    if (cause instanceof UnavailableError) return client.release(cause);
    try {
      await this.#guard(client.query('rollback'));
      client.release();
    } catch {
      client.release(cause instanceof Error ? cause : new Error('rollback failed'));
    }
  }

  private async connect(): Promise<pg.PoolClient> {
    this.#watch.requireHere();
    const mustWait = this.pool.idleCount === 0;
    const begun = mustWait ? performance.now() : 0;
    const connecting = this.pool.connect();
    try {
      const client = await this.#guard(connecting);
      if (mustWait) this.#metrics?.waited(performance.now() - begun);
      return client;
    } catch (cause) {
      this.#metrics?.refused();
      // It may still arrive, although no one waits for it.
      connecting.then(
        (client) => client.release(),
        () => undefined,
      );
      throw new UnavailableError(
        'The database cannot be reached. Try again in a moment.',
        1,
        cause,
      );
    }
  }
}

function limits({ statementTimeoutMs }: TransactionOptions): PreparedStatement[] {
  if (statementTimeoutMs === undefined) return [];
  const text = `select set_config('statement_timeout', $1, true)`;
  return [{ name: 'dak_set_timeout', text, values: [String(statementTimeoutMs)] }];
}

function requireTenant(organizationId: string): void {
  if (!isUuid(organizationId)) throw new InvalidError('organization_id must be a UUID.');
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
  const result = await statements.ask({ name: statementName(text), text, values });
  return { rows: result.rows as Row[], rowCount: result.rowCount ?? 0 };
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
  for (let each = error; each instanceof Error; each = each.cause) {
    if (codeOf(each) !== '23505') continue;
    return constraint === undefined || (each as { constraint?: string }).constraint === constraint;
  }
  return false;
}
