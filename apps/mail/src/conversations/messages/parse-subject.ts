import { InvalidError } from '@dak/kernel';
import { storableText } from '../../db/sql-parameters';

const MAX_SUBJECT_LENGTH = 998;

/** @throws InvalidError */
export function parseSubject(subject: string): string {
  const text = storableText(subject);
  if (/[\u0000-\u0008\u000a-\u001f\u007f\u2028\u2029]/.test(subject)) {
    throw new InvalidError(
      'subject must not contain line breaks or other control characters. Remove them.',
      'invalid_characters',
    );
  }
  if (text.length > MAX_SUBJECT_LENGTH) {
    throw new InvalidError(`subject must not be longer than ${MAX_SUBJECT_LENGTH} characters.`);
  }
  return text.trim();
}
