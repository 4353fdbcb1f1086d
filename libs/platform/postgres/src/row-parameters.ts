/** Rows as parameters with an array per column, so that a statement is prepared once whatever their number. */
export interface RowParameters<Row> {
  readonly names: readonly (keyof Row & string)[];
  /** A select list, for `from <rows> <alias>`; `replaced` columns are computed instead. */
  list(alias: string, replaced?: Readonly<Partial<Record<keyof Row & string, string>>>): string;
  /** For `from`: the rows of the parameters that begin with `$first`. */
  from(alias: string, first: number): string;
  values(rows: readonly Row[]): unknown[][];
}

/** @param types the SQL type of each column; forgetting one, or naming one too many, does not compile */
export function rowParameters<Row>(
  types: Readonly<Record<keyof Row & string, string>>,
): RowParameters<Row> {
  const names = Object.keys(types) as (keyof Row & string)[];
  return {
    names,
    list: (alias, replaced) =>
      names.map((name) => replaced?.[name] ?? `${alias}.${name}`).join(', '),
    from(alias, first) {
      const arrays = names.map((name, index) => `$${first + index}::${types[name]}[]`);
      return `unnest(${arrays.join(', ')}) as ${alias} (${names.join(', ')})`;
    },
    values: (rows) => names.map((name) => rows.map((row) => row[name])),
  };
}
