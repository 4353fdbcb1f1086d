/** Texts are constants of the program; what exceeds this was put together for single requests. */
const MAX_NAMES = { own: 500, model: 200 };
const NAMES = { own: new Map<string, string>(), model: new Map<string, string>() };

/**
 * The name under which a text is prepared: the server parses and plans it once per connection, which
 * is half the cost of a short statement. Empty, so not prepared, for texts beyond the first 500: each
 * holds memory of every connection.
 *
 * @param origin `model` for what Prisma writes, one text per length of a list: it takes no names from Dak's own SQL
 */
export function statementName(text: string, origin: 'own' | 'model' = 'own'): string {
  const names = NAMES[origin];
  let name = names.get(text);
  if (name === undefined) {
    if (names.size >= MAX_NAMES[origin]) return '';
    name = `dak_${origin === 'own' ? '' : `${origin}_`}${names.size}`;
    names.set(text, name);
  }
  return name;
}
