import pg, { Result, type Connection, type Submittable } from 'pg';
import type { Answer, PreparedStatement } from './sql';

interface FieldsMessage {
  fields: unknown[];
}
interface DataRowMessage {
  fields: (string | null)[];
}
interface CompleteMessage {
  text: string;
}
type PgResult = Answer & {
  addFields(fields: unknown[]): void;
  parseRow(fields: (string | null)[]): unknown;
  addRow(row: unknown): void;
  addCommandComplete(message: CompleteMessage): void;
};
type WireConnection = Connection & {
  stream: { cork?(): void; uncork?(): void };
  parsedStatements: Record<string, string>;
  parse(query: { name: string; text: string }, more?: boolean): void;
  bind(
    config: {
      portal: string;
      statement: string;
      values: readonly unknown[];
      binary: boolean;
      valueMapper: (value: unknown, index: number) => unknown;
    },
    more?: boolean,
  ): void;
  describe(message: { type: 'P'; name: string }, more?: boolean): void;
  execute(config: { portal: string; rows: number }, more?: boolean): void;
  sync(): void;
};

const makeResult = Result as unknown as new (rowMode?: string, types?: unknown) => PgResult;
const { prepareValue } = (pg as unknown as { utils: { prepareValue: (value: unknown) => unknown } })
  .utils;

/**
 * Several prepared statements in one network round trip and one implicit transaction: everything
 * between two Sync messages commits or fails together (PostgreSQL, "Extended Query", pipelining), so
 * a transaction-local setting made by the first statement holds for the others. Four round trips
 * (begin, set_config, select, commit) become one.
 */
export class PipelinedQuery implements Submittable {
  readonly done: Promise<PgResult[]>;
  private readonly results: PgResult[] = [];
  private current = 0;
  private failure: Error | null = null;
  private resolve!: (results: PgResult[]) => void;
  private reject!: (error: Error) => void;

  constructor(
    private readonly statements: readonly PreparedStatement[],
    types: pg.CustomTypesConfig,
  ) {
    this.done = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    for (const { format } of statements) {
      this.results.push(new makeResult(format?.rowMode, format?.types ?? types));
    }
  }

  /** pg records `name` → `text` as prepared when ParseComplete arrives: both follow the statement that is being answered. */
  get name(): string {
    return this.statements[this.current]?.name ?? '';
  }

  get text(): string {
    return this.statements[this.current]?.text ?? '';
  }

  submit(connection: Connection): void {
    const wire = connection as WireConnection;
    const parsedHere = new Set<string>();
    wire.stream.cork?.();
    try {
      for (const { name, text, values } of this.statements) {
        if (name === '' || (wire.parsedStatements[name] === undefined && !parsedHere.has(name))) {
          wire.parse({ name, text });
          parsedHere.add(name);
        }
        wire.bind({
          portal: '',
          statement: name,
          values,
          binary: false,
          valueMapper: prepareValue,
        });
        wire.describe({ type: 'P', name: '' });
        wire.execute({ portal: '', rows: 0 });
      }
      wire.sync();
    } finally {
      wire.stream.uncork?.();
    }
  }

  handleRowDescription(message: FieldsMessage): void {
    this.results[this.current]?.addFields(message.fields);
  }

  handleDataRow(message: DataRowMessage): void {
    const result = this.results[this.current];
    if (result === undefined || this.failure !== null) return;
    try {
      result.addRow(result.parseRow(message.fields));
    } catch (error) {
      this.failure = error as Error;
    }
  }

  handleCommandComplete(message: CompleteMessage): void {
    this.results[this.current]?.addCommandComplete(message);
    this.current += 1;
  }

  handleEmptyQuery(): void {
    this.current += 1;
  }

  /** The server skips to Sync by itself; pg has already forgotten this query when it tells of an error. */
  handleError(error: Error): void {
    this.reject(error);
  }

  handleReadyForQuery(): void {
    if (this.failure === null) this.resolve(this.results);
    else this.reject(this.failure);
  }
}
