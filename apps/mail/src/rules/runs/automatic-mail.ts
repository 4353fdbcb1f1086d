import { normalizeAddress } from '@dak/contracts/api';
import type { Rule } from '../definition/rule';
import { withoutDetail } from '../definition/field-values';
import type { RuleMessage } from '../definition/rule-fields';

/** Forwards by rules that a mail may have behind it. */
export const MAX_HOPS = 8;
/** Days before a rule answers the same sender in the same conversation again (RFC 5230 §4.2 has 7 as its default). */
export const REPLY_INTERVAL_DAYS = 4;
/** Answers of a rule to one sender within 24 hours, whatever the conversations. */
export const MAX_REPLIES_PER_DAY = 4;

const HOPS = 'X-Dak-Hops';
/** Addresses that a mail has passed by rule. */
const LOOP = 'X-Loop';

/** Header fields that mark mail sent by rules, to recognize it when it comes back. */
export function loopHeaders(
  message: Pick<RuleMessage, 'mailboxAddress'>,
  headers: RuleMessage['headers'],
): Record<string, string | string[]> {
  const passed = (headers.get(LOOP.toLowerCase()) ?? []).flatMap(
    (value) => normalizeAddress(value.trim()) ?? [],
  );
  return {
    [HOPS]: String(hopsOf(headers) + 1),
    [LOOP]: [...new Set([message.mailboxAddress, ...passed])].slice(0, MAX_HOPS + 1),
  };
}

/**
 * Why a rule must not send anything because of this mail, or null.
 * @param headers of the mail, by lower-case name
 */
export function refusalOf(
  type: 'forward' | 'reply_with_template',
  rule: Pick<Rule, 'conditions'>,
  message: RuleMessage,
  headers: RuleMessage['headers'],
): string | null {
  const asksForKind = rule.conditions.some(({ field }) => field === 'kind');
  const hops = hopsOf(headers);
  if (hops >= MAX_HOPS) {
    return `The mail has been forwarded ${hops} times by rules, which looks like a loop.`;
  }
  const own = message.mailboxAddress.toLowerCase();
  if ((headers.get(LOOP.toLowerCase()) ?? []).some((value) => value.trim().toLowerCase() === own)) {
    return 'A rule has sent this mail from this mailbox before: it has come back.';
  }
  if (message.from !== null && withoutDetail(message.from.email) === own) {
    return 'The mail is from the mailbox itself.';
  }
  if (message.kind !== 'human' && !asksForKind) {
    return `The mail is ${NAMES[message.kind]}, which rules do not ${type === 'forward' ? 'forward' : 'answer'} unless they have a condition on kind.`;
  }
  if (type === 'forward') return null;
  // RFC 3834 §2, RFC 5321 §4.5.5: whatever a rule says.
  if (message.hasEmptyReversePath)
    return 'The mail has an empty reverse-path: nobody takes an answer.';
  if (message.kind === 'dsn' || message.kind === 'mdn' || message.kind === 'arf') {
    return `The mail is ${NAMES[message.kind]}, which is never answered automatically.`;
  }
  if (!message.mayAutoReply && message.kind === 'human') {
    return 'The sender takes no automatic answers (no-reply address, or X-Auto-Response-Suppress).';
  }
  return null;
}

const NAMES: Readonly<Record<RuleMessage['kind'], string>> = {
  human: 'mail of a person',
  auto_reply: 'automatic mail',
  list: 'list mail',
  dsn: 'a delivery report',
  mdn: 'a read receipt',
  arf: 'a complaint report',
};

function hopsOf(headers: RuleMessage['headers']): number {
  const values = (headers.get(HOPS.toLowerCase()) ?? []).map((value) =>
    /^\s*\d{1,4}\s*$/.test(value) ? Number(value) : 0,
  );
  return Math.max(0, ...values);
}
