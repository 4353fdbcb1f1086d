import { InvalidError } from '@dak/kernel';
import { addressKey, parseRecipient, type Recipient } from './recipient';

export const MAX_RECIPIENTS = 50;

export interface RecipientLists {
  readonly to: readonly Recipient[];
  readonly cc: readonly Recipient[];
  readonly bcc: readonly Recipient[];
}

/** The lists of a request, each address checked. @throws InvalidError naming the entry */
export function parseRecipientLists(lists: {
  to: readonly string[];
  cc: readonly string[];
  bcc: readonly string[];
}): RecipientLists {
  const parse = (field: 'to' | 'cc' | 'bcc') => {
    // Before parsing: a list of a million entries must not cost a million parses.
    if (lists[field].length > MAX_RECIPIENTS * 4) throw tooMany(lists[field].length);
    return lists[field].map((text, index) => parseRecipient(text, `${field}[${index}]`));
  };
  return { to: parse('to'), cc: parse('cc'), bcc: parse('bcc') };
}

/**
 * Each address once, where it says most: To before Cc before Bcc.
 * @throws InvalidError when nobody is left or more than {@link MAX_RECIPIENTS} are
 */
export function settleRecipients(lists: RecipientLists): {
  recipients: RecipientLists;
  warnings: string[];
} {
  const seen = new Set<string>();
  const warnings: string[] = [];
  const once = (list: readonly Recipient[]) =>
    list.filter(({ email }) => {
      const key = addressKey(email);
      if (seen.has(key)) {
        warnings.push(`${email} was given more than once and receives one copy.`);
        return false;
      }
      seen.add(key);
      return true;
    });
  const recipients = { to: once(lists.to), cc: once(lists.cc), bcc: once(lists.bcc) };
  if (seen.size === 0) {
    throw new InvalidError(
      'to, cc and bcc are empty. Name at least one recipient.',
      'no_recipients',
    );
  }
  if (seen.size > MAX_RECIPIENTS) throw tooMany(seen.size);
  return { recipients, warnings: [...new Set(warnings)] };
}

function tooMany(count: number): InvalidError {
  return new InvalidError(
    `to, cc and bcc name ${count} recipients together; at most ${MAX_RECIPIENTS} are allowed. Send several messages.`,
    'too_many_recipients',
  );
}
