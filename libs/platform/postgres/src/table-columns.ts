/** The columns of one table as its row type names them. */
export interface TableColumns<Name extends string = string> {
  readonly names: readonly Name[];
  /** A select list, for `from <table> <alias>`. */
  list(alias: string): string;
  /** For `update … set`: the columns that change after the insert, each from the same name of `source`. */
  assignments(source: string): string;
  /** An insert of the rows that parameter `$1` holds as a JSON array, each with its `organization_id`. */
  readonly insert: string;
}

/**
 * Columns are named once, beside the type of the row: a column that is forgotten or too many does not
 * compile. Inserts name what they fill, so that a column which a later version adds gets its default.
 *
 * @param columns whether a column is `fixed` by the insert or `changes` later; without `organization_id`
 */
export function tableColumns<Row>(
  table: string,
  columns: Readonly<Record<keyof Row & string, 'fixed' | 'changes'>>,
): TableColumns<keyof Row & string> {
  const names = Object.keys(columns) as (keyof Row & string)[];
  const changing = names.filter((name) => columns[name] === 'changes');
  return {
    names,
    list: (alias) => names.map((name) => `${alias}.${name}`).join(', '),
    assignments: (source) => changing.map((name) => `${name} = ${source}.${name}`).join(', '),
    insert: insertOf(table, ['organization_id', ...names]),
  };
}

/** As {@link TableColumns.insert}, of the columns that `rows` name; all have the same ones. */
export function insertOfRows(table: string, rows: readonly Readonly<object>[]): string {
  return insertOf(table, Object.keys(rows[0] ?? {}));
}

/** Inserts one row, the columns that it names. */
export function insertOfRow(
  table: string,
  row: Readonly<Record<string, unknown>>,
): { text: string; values: unknown[] } {
  const names = Object.keys(row);
  const parameters = names.map((_, index) => `$${index + 1}`);
  return {
    text: `insert into ${table} (${names.join(', ')}) values (${parameters.join(', ')})`,
    values: Object.values(row),
  };
}

function insertOf(table: string, names: readonly string[]): string {
  const list = names.join(', ');
  return `insert into ${table} (${list}) select ${list} from json_populate_recordset(null::${table}, $1)`;
}
