import type { ParsedMessage } from '@dak/formats/rfc5322';
import {
  findOwnPart,
  parseReportFields,
  reportAddress,
  reportField,
  reportText,
} from '@dak/formats/multipart-report';

/** What a recipient's mail program did with a message (RFC 8098). */
export interface DispositionNotification {
  reportingUserAgent: string | null;
  originalRecipient: string | null;
  finalRecipient: string | null;
  /** Message-ID of the message it is about, without brackets. */
  originalMessageId: string | null;
  /** RFC 8098 §3.2.6.2: `displayed`, `deleted`, `dispatched`, `processed`; `denied` and others of RFC 2298. Lower case. */
  type: string;
  /** Modifiers after the slash (`error`), lower case. */
  modifiers: string[];
  /** True when no person was involved: action mode `automatic-action` (RFC 8098 §3.2.6.1). */
  automatic: boolean;
  error: string | null;
}

/** Null when the message carries no disposition notification. */
export function readDispositionNotification(
  message: ParsedMessage,
): DispositionNotification | null {
  const part = findOwnPart(message.root, [
    'message/disposition-notification',
    'message/global-disposition-notification',
  ]);
  if (!part) return null;
  const fields = parseReportFields(reportText(part.content));
  const [modes = '', outcome = ''] = splitOnce(reportField(fields, 'disposition') ?? '', ';');
  const [type = '', modifiers = ''] = splitOnce(outcome, '/');
  return {
    reportingUserAgent: reportField(fields, 'reporting-ua'),
    originalRecipient: reportAddress(reportField(fields, 'original-recipient')),
    finalRecipient: reportAddress(reportField(fields, 'final-recipient')),
    originalMessageId: bareMessageId(reportField(fields, 'original-message-id')),
    type: type.trim().toLowerCase() || 'unknown',
    modifiers: modifiers
      .split(',')
      .map((modifier) => modifier.trim().toLowerCase())
      .filter((modifier) => modifier !== ''),
    automatic: /^\s*automatic-action\b/i.test(modes),
    error: reportField(fields, 'error'),
  };
}

function splitOnce(value: string, separator: string): [string, string] {
  const at = value.indexOf(separator);
  return at < 0 ? [value, ''] : [value.slice(0, at), value.slice(at + 1)];
}

function bareMessageId(value: string | null): string | null {
  const id = value?.trim().replace(/^<(.*)>$/, '$1');
  return id ? id : null;
}
