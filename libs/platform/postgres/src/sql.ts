/** Rows as PostgreSQL returns them; the caller states their shape beside the SQL text. */
export interface SqlExecutor {
  query<Row = Record<string, unknown>>(
    text: string,
    values?: readonly unknown[],
  ): Promise<{ rows: Row[]; rowCount: number }>;
  /** Tells those of this process who listen (`Database.onSignal`) once the commit is durable; best effort, as other processes have to poll anyway. */
  signal?(name: string): void;
}

/** A statement that is prepared once per connection under `name`; with an empty one it is not prepared. */
export interface PreparedStatement {
  name: string;
  text: string;
  values: readonly unknown[];
}
