import { getHeader, getHeaders, type ParsedMessage } from '@dak/formats/rfc5322';
import {
  findOwnPart,
  findReturnedMessage,
  readReturnedText,
  reportText,
  type ReturnedMessage,
} from '@dak/formats/multipart-report';

import { bounceReason, isHardBounce } from './bounce-reason';
import type { DeliveryAction, RecipientOutcome, RecipientStatus } from './delivery-status';
import { parseDeliveryStatus } from './parse-delivery-status';
import { readPlainTextBounce } from './plain-text-bounce';
import { findEnhancedStatus, findReplyCode, isVague } from './response-codes';

export interface DeliveryReport {
  /** `rfc3464` when the report has a machine-readable part, `text` when it was read from words. */
  source: 'rfc3464' | 'text';
  originalEnvelopeId: string | null;
  reportingMta: string | null;
  arrivalDate: string | null;
  recipients: RecipientOutcome[];
  returned: ReturnedMessage | null;
}

/** A group takes some 300 bytes and RFC 5321 §4.5.3.1.8 asks for 100 recipients; more than this is no report. */
const MAX_STATUS_BYTES = 1024 * 1024;

/** Reports on more recipients are read without the words around them, to bound the search. */
const MAX_EXPLAINED = 100;

/** Characters of a diagnostic that are kept. */
const MAX_DIAGNOSTIC = 2000;

const STATUS_TYPES = ['message/delivery-status', 'message/global-delivery-status'];

/**
 * Reads a report on the delivery of a message (RFC 3464, RFC 6533), or one in words from a server that does not know
 * these. Null when the message is no such report. `bodyText` is the text of the message as people see it.
 */
export function readDeliveryReport(
  message: ParsedMessage,
  bodyText: string | null,
): DeliveryReport | null {
  const body = bodyText ?? '';
  const part = findOwnPart(message.root, STATUS_TYPES);
  const isBounce = part !== null || looksLikeBounce(message, body);
  if (!isBounce) return null;
  const machineReadable = part
    ? reportText(part.content.subarray(0, MAX_STATUS_BYTES))
    : misplacedStatus(message, body);
  if (machineReadable !== null) {
    const report = parseDeliveryStatus(machineReadable);
    if (report.recipients.length > 0) {
      return {
        source: 'rfc3464',
        originalEnvelopeId: report.originalEnvelopeId,
        reportingMta: report.reportingMta,
        arrivalDate: report.arrivalDate,
        recipients: report.recipients.map((recipient) =>
          toOutcome(recipient, wordsOn(recipient, report.recipients.length, body)),
        ),
        returned: findReturnedMessage(message.root),
      };
    }
  }
  return fromText(message, body);
}

/**
 * The status fields of a bounce that lost its MIME structure: in the text, or inside an attached report that a
 * gateway wrapped once more. Null when there are none.
 */
function misplacedStatus(message: ParsedMessage, body: string): string | null {
  const wrapped = message.leaves.find((leaf) => STATUS_TYPES.includes(leaf.contentType));
  if (wrapped) return reportText(wrapped.content.subarray(0, MAX_STATUS_BYTES));
  const bounded = body.slice(0, 64 * 1024);
  const at = /^Reporting-MTA:/im.exec(bounded)?.index ?? /^Final-Recipient:/im.exec(bounded)?.index;
  if (at === undefined || !/^Final-Recipient:/im.test(bounded.slice(at))) return null;
  const status = bounded.slice(at);
  const end = /^(?:--\S|Content-Type:|Return-Path:|Received:|-{3,})/im.exec(status)?.index;
  return status.slice(0, end);
}

/** In a report on several recipients, only the lines about this one may explain its failure. */
function wordsOn(recipient: RecipientStatus, recipients: number, body: string): string {
  if (recipients === 1) return body;
  if (recipients > MAX_EXPLAINED) return '';
  const names = [recipient.finalRecipient, recipient.originalRecipient]
    .filter((name) => name !== null)
    .map((name) => name.toLowerCase());
  const lines = body.slice(0, 64 * 1024).split(/\r\n|\n|\r/);
  return lines.filter((line) => names.some((name) => line.toLowerCase().includes(name))).join('\n');
}

function toOutcome(recipient: RecipientStatus, words: string): RecipientOutcome {
  const diagnostic = innermost(recipient.diagnosticCode ?? '');
  const isSmtp = recipient.diagnosticType === null || recipient.diagnosticType === 'smtp';
  const source = isSmtp && diagnostic !== '' ? diagnostic : words;
  const smtpCode = findReplyCode(source) ?? (isSmtp ? findReplyCode(words) : null);
  const status = chooseStatus(recipient.status, findEnhancedStatus(source), smtpCode);
  const typed = recipient.diagnosticType
    ? `${recipient.diagnosticType}; ${diagnostic}`
    : diagnostic;
  const { action } = recipient;
  const evidence = { status, smtpCode, action, context: words };
  let reason = bounceReason({ ...evidence, text: diagnostic === '' ? words : typed });
  if (reason === 'undefined' || reason === 'onhold') {
    reason = bounceReason({ ...evidence, text: `${typed}\n${words}` });
  }
  return {
    recipient: recipient.originalRecipient ?? recipient.finalRecipient,
    action,
    status,
    smtpCode,
    hard: isHardBounce(reason, status),
    reason,
    finalRecipient: recipient.finalRecipient,
    originalRecipient: recipient.originalRecipient,
    remoteMta: recipient.remoteMta,
    diagnosticCode: recipient.diagnosticCode?.slice(0, MAX_DIAGNOSTIC) ?? null,
  };
}

/** Relays wrap what the last server said: "Unknown address error 550-'5.2.2 …'", "Message expired … <421 4.4.2 …>". */
function innermost(diagnostic: string): string {
  const quoted = /\berror ([245]\d\d)[- ]'([^']{3,1000})'/.exec(diagnostic);
  if (quoted) return `${quoted[1] ?? ''} ${quoted[2] ?? ''}`;
  const bracketed = /message expired[^<]{0,200}<([245]\d\d [^<>]{3,500})>/i.exec(diagnostic);
  return bracketed?.[1] ?? diagnostic;
}

/** The Status field, unless it says nothing (x.0.0) or contradicts the reply code where the server's own words do not. */
function chooseStatus(
  declared: string | null,
  said: string | null,
  smtpCode: number | null,
): string | null {
  if (declared === null || said === null) return declared ?? said;
  if (isVague(declared) && said.startsWith(declared.charAt(0))) return said;
  const replyClass = String(smtpCode ?? '').charAt(0);
  if (said.charAt(0) === replyClass && declared.charAt(0) !== replyClass && !isVague(declared))
    return said;
  return isQuotedLater(declared, said) ? said : declared;
}

/** A relay's "message expired" (4.4.7) hides the cause that the last attempt met. */
function isQuotedLater(declared: string, said: string): boolean {
  return /^[45]\.(?:4\.7|1\.0)$/.test(declared) && !isVague(said);
}

const BOUNCE_SENDER =
  /^(?:mailer-?daemon|postmaster|post_master|mail-?er-daemon|mdaemon|mail(?:er)?[-_]?(?:system|delivery)|bounces?|notify|no-?reply-delivery)(?:[@+]|$)/i;
const BOUNCE_NAME =
  /mail delivery (?:sub)?system|mailer[- ]daemon|postmaster|system administrator|delivery (?:status|failure)/i;
const BOUNCE_SUBJECT =
  /undeliver(?:able|ed)|deliver(?:y|ed)? (?:has )?(?:fail|status|problem|error|incomplete)|fail(?:ure|ed)\b.{0,12}(?:notice|delivery|to deliver|notification|mail)|mail (?:delivery|failure|system error|could not)|return(?:ed|ing) (?:mail|message|to sender|e-?mail)|not (?:be )?delivered|could not (?:be )?deliver|non[- ]?remis|unzustellbar|delayed|warning: (?:could not|message)|error sending|bounce|nondeliverable|delivery delay|errors from/i;
const BOUNCE_TEXT =
  /could not be delivered|was not delivered|unable to deliver|wasn't able to deliver|cannot be delivered|(?:delivery|sending) .{0,60}(?:fail|delayed|error)|permanent (?:fatal )?error|undeliver(?:able|ed)|user (?:is )?unknown|no such user|returned to sender|invalid (?:user|final|recipient|address)|mailbox (?:is )?(?:full|exceeds|unavailable)|transcript of session|error message below|exceeds allowed size|did not reach|rejected by|has not yet been delivered|account is disabled|trouble delivering|not delivered|送信できません|配信できません|не может быть доставлено|host unknown|delivery userid|failed \d+ attempts|message delivery has been/i;

/**
 * A report in words needs the look of one in two independent places, so that a person who writes "your mail could not
 * be delivered" is not taken for a server.
 */
function looksLikeBounce(message: ParsedMessage, body: string): boolean {
  if (getHeader(message.headers, 'x-failed-recipients') !== null) return true;
  const sender = message.from[0] ?? { name: '', address: '' };
  const rawFrom = getHeader(message.headers, 'from') ?? '';
  const bySender =
    BOUNCE_SENDER.test(sender.address) ||
    BOUNCE_NAME.test(sender.name) ||
    BOUNCE_SENDER.test(rawFrom.trim()) ||
    /^\s*<\s*(?:mailer-daemon)?\s*>\s*$/i.test(getHeader(message.headers, 'return-path') ?? '');
  if (!bySender) return false;
  const isAnswer =
    /^(?:re|aw|fwd?|sv|wg)\s*:/i.test(message.subject) && message.inReplyTo.length > 0;
  if (isAnswer && !BOUNCE_SENDER.test(sender.address)) return false;
  const head = body.slice(0, 16 * 1024);
  return BOUNCE_SUBJECT.test(message.subject) || BOUNCE_TEXT.test(head);
}

function fromText(message: ParsedMessage, body: string): DeliveryReport | null {
  const failed = getHeaders(message.headers, 'x-failed-recipients')
    .flatMap((value) => value.split(','))
    .map((value) => value.trim().replace(/^<(.*)>$/, '$1'))
    .filter((value) => value.includes('@'));
  const senders = [...message.from, ...message.to].map((entry) => entry.address);
  const bounce = readPlainTextBounce(body, failed, senders);
  const returned =
    findReturnedMessage(message.root) ??
    (bounce.returned ? readReturnedText(bounce.returned) : null);
  const failures =
    bounce.failures[0]?.recipient === null && returned?.to.length === 1
      ? bounce.failures.map((failure) => ({ ...failure, recipient: returned.to[0] ?? null }))
      : bounce.failures;
  const delayed =
    /\bdelayed\b|\bwarning\b|not yet been delivered|will (?:be retried|continue)|temporary failure/i.test(
      `${message.subject}\n${body.slice(0, 2000)}`,
    ) &&
    !/permanent (?:error|failure)|failed permanently|giv(?:en|ing) up/i.test(body.slice(0, 4000));
  const action: DeliveryAction = delayed ? 'delayed' : 'failed';
  return {
    source: 'text',
    originalEnvelopeId: null,
    reportingMta: null,
    arrivalDate: null,
    recipients: failures.map(({ recipient, text }) => {
      const status = findEnhancedStatus(text);
      const smtpCode = findReplyCode(text);
      const reason = bounceReason({ text, status, smtpCode, action });
      return {
        recipient,
        action: reason === 'delivered' ? 'delivered' : action,
        status,
        smtpCode,
        hard: isHardBounce(reason, status),
        reason,
        finalRecipient: recipient,
        originalRecipient: null,
        remoteMta: null,
        diagnosticCode: text.slice(0, MAX_DIAGNOSTIC) || null,
      };
    }),
    returned,
  };
}
