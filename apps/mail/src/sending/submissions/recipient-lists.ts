import { InvalidError } from '@dak/kernel';
import {
  addressKey,
  parseRecipient,
  SUBMISSION_LIMITS,
  type ComposeMail,
  type Recipient,
} from '@dak/contracts/api';

const { recipients_per_message: MAX_RECIPIENTS } = SUBMISSION_LIMITS;

export interface RecipientLists {
  readonly to: readonly Recipient[];
  readonly cc: readonly Recipient[];
  readonly bcc: readonly Recipient[];
}

/** The lists of a request. */
export function recipientListsOf(request: Pick<ComposeMail, keyof RecipientLists>): RecipientLists {
  const parse = (field: keyof RecipientLists) =>
    (request[field] ?? []).map((text, index) => parseRecipient(text, `${field}[${index}]`));
  return { to: parse('to'), cc: parse('cc'), bcc: parse('bcc') };
}

/**
 * Each address once, where it says most: To before Cc before Bcc.
 * @throws InvalidError when none is left or more than {@link MAX_RECIPIENTS} are
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
  if (seen.size > MAX_RECIPIENTS) {
    throw new InvalidError(
      `to, cc and bcc name ${seen.size} recipients together; at most ${MAX_RECIPIENTS} are allowed. Send several messages.`,
      'too_many_recipients',
    );
  }
  return { recipients, warnings: [...new Set(warnings)] };
}
