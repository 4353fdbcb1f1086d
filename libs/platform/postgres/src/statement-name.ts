/** Texts are constants of the program; what exceeds this was put together for single requests. */
const MAX_NAMES = 500;
const names = new Map<string, string>();

/**
 * The name under which a text is prepared: the server parses and plans it once per connection, which
 * is half the cost of a short statement. Empty, so not prepared, for texts beyond the first 500: each
 * holds memory of every connection.
 */
export function statementName(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    if (names.size >= MAX_NAMES) return '';
    name = `dak_${names.size}`;
    names.set(text, name);
  }
  return name;
}
