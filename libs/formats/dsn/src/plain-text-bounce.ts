/** One recipient that a bounce without machine-readable part speaks of, with the words that belong to it. */
export interface PlainTextFailure {
  recipient: string | null;
  text: string;
}

export interface PlainTextBounce {
  failures: PlainTextFailure[];
  /** What follows the line that announces the returned message; null when there is none. */
  returned: string | null;
}

/** Longer explanations are advertisement; the limit bounds the work for hostile input. */
const MAX_TEXT = 64 * 1024;

/** Lines that announce the copy of the original message. */
const RETURNED_MARK =
  /^[-= \t*]*(?:below this line is a copy|this is a copy of (?:the|your) message|(?:the )?(?:header|body|headers) of the original message|original message(?: follows| headers?)?|unsent message(?: follows| below)?|message (?:headers?|header) follows?|undelivered message follows|message text follows|returned message|copy of (?:your|the) (?:original )?message|original (?:mail|message) (?:header|follows)|included is a copy|the original message was received|-+ ?original message|message contents follow|your original message (?:follows|is))\b[^\r\n]{0,120}$/im;

/** Sendmail's transcript heading is a mark of its own: what stands before is the recipient list. */
const ADDRESS = /[^\s<>()[\]"',;:|=]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?/g;

/** Lines whose addresses are the sender's or a contact's, not the recipient's. */
const SENDER_LINE =
  /(?:mail from\s*:|envelope-from|^\s*>*\s*(?:from|sender|reply-to|cc|bcc|return-path|received|message-id|x-[a-z-]+|date|subject)\s*:|sender address|contact|postmaster@|abuse@|for (?:help|assistance|support)|send (?:mail|e-?mail) to)/i;

/** Lines that name the failed recipient. */
const RECIPIENT_LINE =
  /^\s*(?:<?[^\s<>@]{1,64}@[^\s<>]{1,253}>?\s*(?:$|[:;,(]|\.\.\.)|<[^\s<>@]{1,64}@[^\s<>]{1,253}>)|rcpt to\s*:|(?:final-|failed |original )?recipients?(?: address)?\s*:|(?:could not|couldn't|cannot|unable to|can't|error) (?:be )?deliver\w*.{0,40}(?:to|for|your mail to)\b|delivered to\s*:|undeliver\w* to|delivery to|(?:user|account|mailbox|address|userid|attempts|size)\b[^@]{0,60}:\s*<?[^\s<>@]{1,64}@|returned permanent errors|^\s*[245]\d\d[ -].{0,40}<[^\s<>@]{1,64}@|^\s*[^\s<>@]{1,64}@\S{1,253}\s+(?:invalid|unknown|error|failed|reason)/i;

/**
 * Finds the failed recipients in the text of a bounce that is older than RFC 3464 or ignores it (qmail, Exim,
 * classic Sendmail, Exchange, gateways of mobile operators). `failed` are addresses that the headers name
 * (`X-Failed-Recipients`); `senders` are those the report goes back to, which cannot be its subject.
 */
export function readPlainTextBounce(
  body: string,
  failed: readonly string[],
  senders: readonly string[],
): PlainTextBounce {
  const bounded = body.slice(0, MAX_TEXT);
  const mark = RETURNED_MARK.exec(bounded);
  const text = mark && mark.index > 0 ? bounded.slice(0, mark.index) : bounded;
  const returned =
    mark && mark.index > 0
      ? bounded.slice(mark.index + mark[0].length).replace(/^[-=\s*]+(?=\S)/, '')
      : null;
  const lines = text.split(/\r\n|\n|\r/);
  const mentions = findMentions(lines, failed, senders);
  return { failures: attachWords(lines, mentions, failed), returned };
}

interface Mention {
  recipient: string;
  line: number;
}

function findMentions(
  lines: readonly string[],
  failed: readonly string[],
  senders: readonly string[],
): Mention[] {
  const notRecipients = new Set(senders.map((address) => address.toLowerCase()));
  const wanted = new Set(failed.map((address) => address.toLowerCase()));
  const strong: Mention[] = [];
  const weak: Mention[] = [];
  for (const [index, line] of lines.entries()) {
    if (line.length > 2000 || !line.includes('@')) continue;
    for (const [raw] of line.matchAll(ADDRESS)) {
      const recipient = raw.replace(/^[.*'`]+|[.]+$/g, '');
      const key = recipient.toLowerCase();
      const mention = { recipient, line: index };
      if (wanted.size > 0) {
        if (wanted.has(key)) strong.push(mention);
      } else if (RECIPIENT_LINE.test(line) && !/mail from\s*:/i.test(line)) {
        if (!notRecipients.has(key)) strong.push(mention);
        break;
      } else if (!SENDER_LINE.test(line) && !notRecipients.has(key)) {
        weak.push(mention);
      }
    }
  }
  return strong.length > 0 ? strong : weak.slice(0, 1);
}

/** Every recipient gets the lines from its first mention to the first mention of another one. */
function attachWords(
  lines: readonly string[],
  mentions: readonly Mention[],
  failed: readonly string[],
): PlainTextFailure[] {
  const whole = lines.join('\n').trim();
  const distinct = [
    ...new Map(
      mentions.map((mention) => [mention.recipient.toLowerCase(), mention.recipient]),
    ).values(),
  ];
  if (distinct.length === 0) {
    const named = failed.length > 0 ? [...failed] : [null];
    return named.map((recipient) => ({ recipient, text: whole }));
  }
  if (distinct.length === 1) return [{ recipient: distinct[0] ?? null, text: whole }];
  return distinct.map((recipient) => {
    const blocks: string[] = [];
    for (const [index, mention] of mentions.entries()) {
      if (mention.recipient.toLowerCase() !== recipient.toLowerCase()) continue;
      const end =
        mentions.slice(index + 1).find((other) => other.line > mention.line)?.line ?? lines.length;
      blocks.push(lines.slice(mention.line, end).join('\n'));
    }
    return { recipient, text: blocks.join('\n').trim() || whole };
  });
}
