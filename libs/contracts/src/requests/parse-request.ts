import type { z } from 'zod';
import {
  DomainError,
  InvalidError,
  type DomainErrorArguments,
  type ErrorCode,
  type ErrorKind,
} from '@dak/kernel';
import { describeIssue } from './validation-sentence';

const MAX_SENTENCES = 3;

/**
 * A request as its schema describes it. The gateway parses what clients send, the service what
 * reaches it; both say the same.
 * @param where `the body` or `the query`, named when the fault is not in one field
 * @throws InvalidError with a sentence for each of the first three faults, and the code of the first; a DomainError
 *   when that is of another kind (see {@link fault})
 */
export function parseRequest<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  where = 'the body',
): z.output<Schema> {
  const result = schema.safeParse(value, { reportInput: true });
  if (result.success) return result.data;
  const { issues } = result.error;
  const sentences = issues.slice(0, MAX_SENTENCES).map((issue) => describeIssue(issue, where));
  const message = sentences.join(' ');
  const [first] = issues;
  const own = first?.code === 'custom' ? (first.params as Partial<Fault> | undefined) : undefined;
  if (own?.kind === undefined) throw new InvalidError(message);
  if (own.kind === 'invalid') throw new InvalidError(message, own.code);
  throw new DomainError(...([own.kind, own.code, message] as DomainErrorArguments));
}

type Fault = { [Kind in ErrorKind]: { kind: Kind; code: ErrorCode<Kind> } }[ErrorKind];

/**
 * Parameters of a schema's `refine` for a fault with its own error code.
 * @param sentence reads on after the field's name, or stands alone when it begins with a capital letter
 */
export function fault<Kind extends ErrorKind = 'invalid'>(
  code: ErrorCode<Kind>,
  sentence: string,
  kind = 'invalid' as Kind,
) {
  return { error: sentence, params: { kind, code } };
}
