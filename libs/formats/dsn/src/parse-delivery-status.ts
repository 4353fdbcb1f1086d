import {
  parseReportFields,
  reportAddress,
  reportMta,
  type ReportField,
} from '@dak/formats/multipart-report';

import { DELIVERY_ACTIONS, type DeliveryStatus, type RecipientStatus } from './delivery-status';

type FieldGroup = Map<string, string>;

const PER_MESSAGE = new Set([
  'original-envelope-id',
  'reporting-mta',
  'dsn-gateway',
  'received-from-mta',
  'arrival-date',
]);

/**
 * Parses a `message/delivery-status` or `message/global-delivery-status` body (RFC 3464 §2, RFC 6533 §4).
 *
 * Groups are told apart by the fields in them and not by blank lines alone, because servers leave the blank line
 * between two recipients out and put extra ones inside a group. A recipient must never be paired with the code of
 * its neighbor: a wrong pair suppresses the wrong person.
 */
export function parseDeliveryStatus(body: string): DeliveryStatus {
  const { message, recipients } = groupFields(parseReportFields(body));
  return {
    originalEnvelopeId: message.get('original-envelope-id') ?? null,
    reportingMta: reportMta(message.get('reporting-mta') ?? null),
    receivedFromMta: reportMta(message.get('received-from-mta') ?? null),
    arrivalDate: message.get('arrival-date') ?? null,
    recipients: recipients.map(toRecipientStatus),
  };
}

function groupFields(fields: readonly ReportField[]): {
  message: FieldGroup;
  recipients: FieldGroup[];
} {
  const message: FieldGroup = new Map();
  const recipients: FieldGroup[] = [];
  let current: FieldGroup | null = null;
  for (const [index, field] of fields.entries()) {
    if (PER_MESSAGE.has(field.name)) {
      if (!message.has(field.name)) message.set(field.name, field.value);
      continue;
    }
    // Extension fields before the first recipient belong to the message (RFC 3464 §2.2.6).
    if (current === null && field.name.startsWith('x-') && index < firstRecipientField(fields)) {
      continue;
    }
    if (current === null || startsRecipient(field, fields[index + 1], current)) {
      current = new Map();
      recipients.push(current);
    }
    if (!current.has(field.name)) current.set(field.name, field.value);
  }
  return { message, recipients: recipients.filter(speaksOfRecipient) };
}

function firstRecipientField(fields: readonly ReportField[]): number {
  return fields.findIndex((field) => /^(?:original|final)-recipient$/.test(field.name));
}

function startsRecipient(
  field: ReportField,
  next: ReportField | undefined,
  current: FieldGroup,
): boolean {
  switch (field.name) {
    case 'final-recipient':
      return current.has('final-recipient');
    case 'original-recipient':
      return (
        current.has('original-recipient') ||
        (current.has('final-recipient') &&
          (next?.name === 'final-recipient' || (field.afterBlank && current.has('action'))))
      );
    case 'action':
    case 'status':
      return field.afterBlank && current.has(field.name);
    default:
      return false;
  }
}

function speaksOfRecipient(group: FieldGroup): boolean {
  return ['final-recipient', 'original-recipient', 'action', 'status'].some((name) =>
    group.has(name),
  );
}

function toRecipientStatus(group: FieldGroup): RecipientStatus {
  const diagnostic = /^\s*(?:([A-Za-z0-9-]{1,40})\s*;)?\s*([\s\S]*)$/.exec(
    group.get('diagnostic-code') ?? '',
  );
  return {
    originalRecipient: reportAddress(group.get('original-recipient') ?? null),
    finalRecipient:
      reportAddress(group.get('final-recipient') ?? null) ??
      reportAddress(group.get('x-actual-recipient') ?? null),
    action: toAction(group.get('action')),
    status: /^\s*([245]\.\d{1,3}\.\d{1,3})(?!\d)/.exec(group.get('status') ?? '')?.[1] ?? null,
    remoteMta: reportMta(group.get('remote-mta') ?? null),
    diagnosticType: diagnostic?.[1]?.toLowerCase() ?? null,
    diagnosticCode: diagnostic?.[2]?.trim() || null,
    lastAttemptDate: group.get('last-attempt-date') ?? null,
    willRetryUntil: group.get('will-retry-until') ?? null,
  };
}

/** "failure", "Failed (user unknown)" and "delivery-error" are what several gateways write. */
function toAction(value: string | undefined): RecipientStatus['action'] {
  const word = /^[a-z]+/.exec((value ?? '').trim().toLowerCase())?.[0] ?? '';
  const exact = DELIVERY_ACTIONS.find((action) => action === word);
  if (exact) return exact;
  if (/^(?:fail|error|undeliver|bounce|reject)/.test(word)) return 'failed';
  if (/^(?:delay|defer|warn)/.test(word)) return 'delayed';
  if (/^deliver/.test(word)) return word.startsWith('delivery') ? 'failed' : 'delivered';
  return 'unknown';
}
