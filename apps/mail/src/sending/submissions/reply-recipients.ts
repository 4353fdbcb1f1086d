import { InvalidError } from '@dak/kernel';
import { addressKey, type Recipient, type REPLY_MODES } from '@dak/contracts/api';
import type { RecipientLists } from './recipient-lists';

export type ReplyMode = (typeof REPLY_MODES)[number];

/** What of the answered message decides who gets the answer. */
export interface AnsweredMessage {
  readonly direction: 'inbound' | 'outbound';
  readonly from: Recipient | null;
  readonly replyTo: readonly Recipient[];
  readonly to: readonly Recipient[];
  readonly cc: readonly Recipient[];
  /** Mail-Followup-To: where the author wants answers to all to go. */
  readonly followupTo: readonly Recipient[];
}

/**
 * Who an answer goes to. `extra` are the request's own lists; `to` counts only in mode `custom`.
 *
 * - `sender`: Reply-To where set (RFC 5322 §3.6.2), else From; after our own message its To.
 * - `all`: Mail-Followup-To where set; else as `sender`, and everybody of To and Cc in Cc.
 *
 * The mailbox's own addresses are left out unless there is no other recipient.
 * @throws InvalidError when `to` and the mode do not fit together, or no recipient can be found
 */
export function replyRecipients(
  mode: ReplyMode,
  answered: AnsweredMessage | null,
  extra: RecipientLists,
  isOwn: (email: string) => boolean,
): RecipientLists {
  if (mode === 'custom') {
    if (extra.to.length === 0) {
      throw new InvalidError(
        'to is empty. reply_mode "custom" needs the recipients in to.',
        'no_recipients',
      );
    }
    return extra;
  }
  if (extra.to.length > 0) {
    throw new InvalidError(
      'to is only allowed with reply_mode "custom". Leave to out, or set reply_mode to "custom".',
      'invalid_reply_mode',
    );
  }
  if (answered === null) {
    throw new InvalidError(
      'This conversation has no message to answer. Use reply_mode "custom" with to.',
      'no_recipients',
    );
  }
  const wasOurs = answered.direction === 'outbound';
  const sender = answered.from === null ? [] : [answered.from];
  const direct = wasOurs ? answered.to : firstWithOthers([answered.replyTo, sender], isOwn);
  if (mode === 'sender') return { to: direct, cc: extra.cc, bcc: extra.bcc };

  const followup = answered.followupTo.filter(({ email }) => !isOwn(email));
  if (!wasOurs && followup.length > 0) {
    return { to: followup, cc: extra.cc, bcc: extra.bcc };
  }
  const inTo = new Set(direct.map(({ email }) => addressKey(email)));
  const others = (wasOurs ? answered.cc : [...answered.to, ...answered.cc]).filter(
    ({ email }) => !isOwn(email) && !inTo.has(addressKey(email)),
  );
  return { to: direct, cc: [...others, ...extra.cc], bcc: extra.bcc };
}

/** The first list with another recipient; mail to oneself is answered to oneself. */
function firstWithOthers(
  lists: readonly (readonly Recipient[])[],
  isOwn: (email: string) => boolean,
): readonly Recipient[] {
  for (const list of lists) {
    const others = list.filter(({ email }) => !isOwn(email));
    if (others.length > 0) return others;
  }
  return lists.find((list) => list.length > 0) ?? [];
}
