/** Comments nest without limit; beyond this length a structured value holds nothing of use. */
const MAX_LENGTH = 1000;

/**
 * A structured value without its comments (RFC 5322 §3.2.2), cut at 1000 characters. Quoted strings
 * are not parsed: use it only for values that have none, such as dates and media types.
 */
export function withoutComments(value: string): string {
  if (!value.includes('(')) return value.slice(0, MAX_LENGTH);
  let depth = 0;
  let text = '';
  for (const character of value.slice(0, MAX_LENGTH)) {
    if (character === '(') depth += 1;
    else if (character === ')') depth = Math.max(0, depth - 1);
    else if (depth === 0) text += character;
  }
  return text;
}
