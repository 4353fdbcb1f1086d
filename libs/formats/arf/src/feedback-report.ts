import { getHeader, getHeaders, type ParsedMessage } from '@dak/formats/rfc5322';
import {
  findOwnPart,
  findReturnedMessage,
  parseReportFields,
  reportAddress,
  reportField,
  reportMta,
  reportText,
  type ReportField,
  type ReturnedMessage,
} from '@dak/formats/multipart-report';

/** A complaint of a recipient, or another report about one message that we sent (RFC 5965). */
export interface FeedbackReport {
  /** RFC 5965 §3.1: `abuse`, `fraud`, `virus`, `not-spam`, `other`; RFC 6591 `auth-failure`; `opt-out` of older loops. Lower case. */
  type: string;
  /** Original-Rcpt-To, Removal-Recipient or what the loop puts in the returned headers; may be redacted or empty. */
  recipients: string[];
  userAgent: string | null;
  version: string | null;
  originalMailFrom: string | null;
  originalEnvelopeId: string | null;
  arrivalDate: string | null;
  sourceIp: string | null;
  reportingMta: string | null;
  reportedDomains: string[];
  reportedUris: string[];
  /** How many messages the report stands for (RFC 5965 §3.2); 1 when it does not say. */
  incidents: number;
  /** The report's own result fields (RFC 6591 §3.1), null for complaints. */
  authFailure: string | null;
  returned: ReturnedMessage | null;
}

/**
 * Reads a feedback report: `message/feedback-report` (RFC 5965), or the JMRP form of Hotmail, which is the bare
 * message with `X-HmXmrOriginalRecipient` in its headers. Null when the message is neither.
 */
export function readFeedbackReport(message: ParsedMessage): FeedbackReport | null {
  const returned = findReturnedMessage(message.root);
  const part = findOwnPart(message.root, ['message/feedback-report']);
  if (part) return fromFields(parseReportFields(reportText(part.content)), returned);
  return fromHotmail(message, returned) ?? fromAppleMail(message);
}

function fromFields(fields: ReportField[], returned: ReturnedMessage | null): FeedbackReport {
  const all = (name: string) =>
    fields.filter((field) => field.name === name).map((field) => field.value);
  const named = distinct(
    [...all('original-rcpt-to'), ...all('removal-recipient')].map((value) => reportAddress(value)),
  );
  return {
    type: (reportField(fields, 'feedback-type') ?? 'other').trim().toLowerCase() || 'other',
    recipients: named.length > 0 ? named : recipientsOf(returned),
    userAgent: reportField(fields, 'user-agent'),
    version: reportField(fields, 'version'),
    originalMailFrom: reportAddress(reportField(fields, 'original-mail-from')),
    originalEnvelopeId: reportField(fields, 'original-envelope-id'),
    arrivalDate: reportField(fields, 'arrival-date') ?? reportField(fields, 'received-date'),
    sourceIp: reportField(fields, 'source-ip'),
    reportingMta: reportMta(reportField(fields, 'reporting-mta')),
    reportedDomains: all('reported-domain'),
    reportedUris: all('reported-uri'),
    incidents: Math.max(1, Number.parseInt(reportField(fields, 'incidents') ?? '1', 10) || 1),
    authFailure: reportField(fields, 'auth-failure'),
    returned,
  };
}

function fromHotmail(
  message: ParsedMessage,
  returned: ReturnedMessage | null,
): FeedbackReport | null {
  if (!returned) return null;
  const recipients = distinct(
    ['x-hmxmroriginalrecipient', 'x-original-recipient'].flatMap((name) =>
      getHeaders(returned.headers, name).map((value) => reportAddress(value)),
    ),
  );
  const fromLoop = message.from.some((sender) => /^(?:staff|fbl|abuse)@/i.test(sender.address));
  const complains = /\bcomplaint about message from\b/i.test(message.subject);
  if (
    getHeader(returned.headers, 'x-hmxmroriginalrecipient') === null &&
    !(fromLoop && complains)
  ) {
    return null;
  }
  return {
    type: 'abuse',
    recipients: recipients.length > 0 ? recipients : recipientsOf(returned),
    userAgent: null,
    version: null,
    originalMailFrom: returned.from,
    originalEnvelopeId: null,
    arrivalDate: null,
    sourceIp: /\bmessage from ([0-9A-Fa-f.:]{3,45})/.exec(message.subject)?.[1] ?? null,
    reportingMta: null,
    reportedDomains: [],
    reportedUris: [],
    incidents: 1,
    authFailure: null,
    returned,
  };
}

/** Apple Mail answers a `mailto:` List-Unsubscribe with its own message; its sender is opting out. */
function fromAppleMail(message: ParsedMessage): FeedbackReport | null {
  const flag = getHeader(message.headers, 'x-apple-unsubscribe');
  if (flag === null || !/^\s*true\s*$/i.test(flag)) return null;
  return {
    type: 'opt-out',
    recipients: distinct(message.from.map((sender) => sender.address)),
    userAgent: 'Apple Mail',
    version: null,
    originalMailFrom: null,
    originalEnvelopeId: null,
    arrivalDate: message.date,
    sourceIp: null,
    reportingMta: null,
    reportedDomains: [],
    reportedUris: [],
    incidents: 1,
    authFailure: null,
    returned: null,
  };
}

/** Loops that redact their fields often leave the recipient in these headers of the returned message. */
function recipientsOf(returned: ReturnedMessage | null): string[] {
  if (!returned) return [];
  const delivered = ['x-original-to', 'delivered-to'].flatMap((name) =>
    getHeaders(returned.headers, name).map((value) => reportAddress(value)),
  );
  return distinct(delivered.some((address) => address?.includes('@')) ? delivered : returned.to);
}

function distinct(addresses: readonly (string | null)[]): string[] {
  return [...new Set(addresses.filter((address) => address?.includes('@')))] as string[];
}
