/** Collects the values of a statement that is put together from fragments. */
export class SqlParameters {
  readonly values: unknown[] = [];

  /** The placeholder to write into the text. */
  add(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
}

/**
 * What PostgreSQL can store: no U+0000, no lone surrogates. Mail has both.
 * As replacer of `JSON.stringify` for values that travel to the database as JSON.
 */
export function storable(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? storableText(value) : value;
}

export function storableText(text: string): string {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed();
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '') : wellFormed;
}
