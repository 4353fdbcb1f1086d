import pg from 'pg';
import type { RowFormat } from './sql';

type Parser = (text: string) => unknown;

/** How the rows of a statement are read; made once for all of its executions. */
export interface RowShape {
  /** As the server described them. */
  readonly fields: readonly pg.FieldDef[];
  readonly types: pg.CustomTypesConfig;
  /** Null where the text that the server sends is the value. */
  readonly parsers: readonly (Parser | null)[];
  /** Every column as null: its copies share a layout in memory. Null for rows that are arrays. */
  readonly blank: Readonly<Record<string, unknown>> | null;
}

const TEXT = 25;
const AS_TEXT: unknown = pg.types.getTypeParser(TEXT, 'text');

/** @param types of rows without a format of their own */
export function rowShape(
  fields: readonly pg.FieldDef[],
  format: RowFormat | undefined,
  types: pg.CustomTypesConfig,
): RowShape {
  const used = format?.types ?? types;
  const parsers = fields.map(({ dataTypeID }) => {
    const parser = used.getTypeParser(dataTypeID, 'text') as Parser;
    return parser === AS_TEXT ? null : parser;
  });
  const blank =
    format === undefined ? Object.fromEntries(fields.map(({ name }) => [name, null])) : null;
  return { fields, types: used, parsers, blank };
}

/** The same columns for a caller who may want them in another format. */
export function inFormat(
  shape: RowShape,
  format: RowFormat | undefined,
  types: pg.CustomTypesConfig,
): RowShape {
  const fits =
    (shape.blank === null) === (format !== undefined) && shape.types === (format?.types ?? types);
  return fits ? shape : rowShape(shape.fields, format, types);
}

export function readRow(
  { fields, parsers, blank }: RowShape,
  values: readonly (string | null)[],
): Record<string, unknown> | unknown[] {
  if (blank === null) return values.map((value, i) => parsed(parsers[i]!, value));
  const row = { ...blank };
  for (let i = 0; i < parsers.length; i += 1) {
    const value = values[i]!;
    if (value !== null) row[fields[i]!.name] = parsed(parsers[i]!, value);
  }
  return row;
}

function parsed(parse: Parser | null, value: string | null): unknown {
  return value === null || parse === null ? value : parse(value);
}
