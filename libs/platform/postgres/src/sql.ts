import type pg from 'pg';

/** Rows as PostgreSQL returns them; the caller states their shape beside the SQL text. */
export interface SqlExecutor {
  query<Row = Record<string, unknown>>(
    text: string,
    values?: readonly unknown[],
  ): Promise<{ rows: Row[]; rowCount: number }>;
  /** Tells those of this process who listen (`Database.onSignal`) once the commit is durable; best effort, as other processes have to poll anyway. */
  signal?(name: string): void;
}

/** How another library wants its rows: as arrays, and each value as its own parsers make it. */
export interface RowFormat {
  readonly rowMode: 'array';
  readonly types: pg.CustomTypesConfig;
}

/** What a server answered to one statement. */
export interface Answer {
  readonly fields: readonly pg.FieldDef[];
  readonly rows: unknown[];
  readonly rowCount: number | null;
}

/** A statement that is prepared once per connection under `name`; with an empty one it is not prepared. */
export interface PreparedStatement {
  name: string;
  text: string;
  values: readonly unknown[];
  /** Objects with the types of Dak's own SQL when it is left out. */
  format?: RowFormat;
}
