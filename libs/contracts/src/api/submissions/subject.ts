import { z } from 'zod';
import { fault } from '../../requests';

const MAX_SUBJECT_LENGTH = 998;

/** One line, without the white space around it (RFC 5322 §2.1.1, §2.2). */
export const subjectShape = z
  .string()
  .refine(
    (subject) => !/[\u0000-\u0008\u000a-\u001f\u007f\u2028\u2029]/.test(subject),
    fault(
      'invalid_characters',
      'must not contain line breaks or other control characters. Remove them.',
    ),
  )
  .refine(
    (subject) => subject.length <= MAX_SUBJECT_LENGTH,
    `must not be longer than ${MAX_SUBJECT_LENGTH} characters.`,
  )
  .overwrite((subject) => subject.toWellFormed().trim());
