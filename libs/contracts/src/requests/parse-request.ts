import type { z } from 'zod';
import { InvalidError, type ErrorCode } from '@dak/kernel';
import { describeIssue } from './validation-sentence';

const MAX_SENTENCES = 3;

/**
 * A request as its schema describes it. The gateway parses what clients send, the service what
 * reaches it; both say the same.
 * @param where `the body` or `the query`, named when the fault is not in one field
 * @throws InvalidError with a sentence for each of the first three faults, and the code of the first (see {@link fault})
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
  const [first] = issues;
  const code = first?.code === 'custom' ? (first.params as Partial<Fault>)?.code : undefined;
  throw new InvalidError(sentences.join(' '), code);
}

interface Fault {
  readonly code: ErrorCode<'invalid'>;
}

/**
 * What a schema's `refine` says of a fault that has an error code of its own.
 * @param sentence reads on after the field's name, or stands alone when it begins with a capital letter
 */
export function fault(code: Fault['code'], sentence: string) {
  return { error: sentence, params: { code } };
}
