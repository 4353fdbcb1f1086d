import pg, { type Connection, type Submittable } from 'pg';
import { inFormat, readRow, rowShape, type RowShape } from './row-shape';
import type { Answer, PreparedStatement } from './sql';

interface FieldsMessage {
  fields: pg.FieldDef[];
}
interface DataRowMessage {
  fields: (string | null)[];
}
interface CompleteMessage {
  text: string;
}
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

const { prepareValue } = (pg as unknown as { utils: { prepareValue: (value: unknown) => unknown } })
  .utils;

/** The number at the end of `SELECT 26` and `INSERT 0 1`. */
const COUNT = / (\d+)$/;

/**
 * Shapes of rows by the name of their statement. A prepared statement keeps its columns (the server refuses to run it
 * when a table has changed so that it could not), so that they are described once for each connection.
 */
const shapes = new WeakMap<Connection, Map<string, RowShape>>();

/**
 * Several prepared statements in one network round trip and one implicit transaction: everything
 * between two Sync messages commits or fails together (PostgreSQL, "Extended Query", pipelining), so
 * a transaction-local setting made by the first statement holds for the others. Four round trips
 * (begin, set_config, select, commit) become one.
 */
export class PipelinedQuery implements Submittable {
  readonly done: Promise<Answer[]>;
  private readonly answers: Answer[] = [];
  private known = new Map<string, RowShape>();
  /** Of the statement that is being answered. */
  private shape: RowShape | undefined;
  private rows: unknown[] = [];
  private current = 0;
  private failure: Error | null = null;
  private resolve!: (answers: Answer[]) => void;
  private reject!: (error: Error) => void;

  constructor(
    private readonly statements: readonly PreparedStatement[],
    private readonly types: pg.CustomTypesConfig,
  ) {
    this.done = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
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
    this.known = shapesOf(connection);
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
        if (!this.known.has(name)) wire.describe({ type: 'P', name: '' });
        wire.execute({ portal: '', rows: 0 });
      }
      wire.sync();
    } finally {
      wire.stream.uncork?.();
    }
  }

  handleRowDescription({ fields }: FieldsMessage): void {
    this.shape = rowShape(fields, this.statements[this.current]?.format, this.types);
  }

  handleDataRow({ fields }: DataRowMessage): void {
    if (this.failure !== null) return;
    try {
      this.rows.push(readRow(this.currentShape(), fields));
    } catch (error) {
      this.failure = error as Error;
    }
  }

  handleCommandComplete({ text }: CompleteMessage): void {
    const count = COUNT.exec(text)?.[1];
    this.next(count === undefined ? null : Number(count));
  }

  handleEmptyQuery(): void {
    this.next(null);
  }

  /** The server skips to Sync on its own; pg has already dropped this query when it reports an error. */
  handleError(error: Error): void {
    this.reject(error);
  }

  handleReadyForQuery(): void {
    if (this.failure === null) this.resolve(this.answers);
    else this.reject(this.failure);
  }
  /** As the server has just described it, or has once; without columns for a statement that returns no rows. */
  private currentShape(): RowShape {
    if (this.shape !== undefined) return this.shape;
    const { format } = this.statements[this.current]!;
    const known = this.known.get(this.name);
    this.shape =
      known === undefined ? rowShape([], format, this.types) : inFormat(known, format, this.types);
    return this.shape;
  }

  private next(rowCount: number | null): void {
    const shape = this.currentShape();
    if (this.name !== '') this.known.set(this.name, shape);
    this.answers.push({ fields: shape.fields, rows: this.rows, rowCount });
    this.rows = [];
    this.shape = undefined;
    this.current += 1;
  }
}

function shapesOf(connection: Connection): Map<string, RowShape> {
  const known = shapes.get(connection) ?? new Map<string, RowShape>();
  shapes.set(connection, known);
  return known;
}
