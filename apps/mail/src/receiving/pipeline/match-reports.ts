import type { NewBounce, NewComplaint } from '../../conversations/messages/new-message';
import type { DeliveryStatusReading } from '../reading/message-reading';
import type { Report, ReportedMail, ReportedMails } from './reported-mail-store';

/** One entry per recipient of a delivery status notification; none for other mail. */
export function bouncesOf(report: Report, mails: ReportedMails): NewBounce[] {
  const mail = mails.get(report.reportedMessage?.messageId ?? '');
  return report.deliveryStatus.map((status): NewBounce => {
    const recipient = status.recipient ?? status.finalRecipient ?? '';
    const deliveryId = deliveryOf(mail, [
      status.recipient,
      status.originalRecipient,
      status.finalRecipient,
    ]);
    return {
      recipient,
      action: actionOf(status),
      status: status.status ?? '',
      smtpCode: status.smtpCode,
      hard: status.hard,
      reason: status.reason,
      bouncedMessageId: mail?.id ?? null,
      deliveryId,
      blindCopy: deliveryId !== null && mail?.blindCopies.has(deliveryId) === true,
    };
  });
}

/** Null for mail that is no feedback report. */
export function complaintOf(report: Report, mails: ReportedMails): NewComplaint | null {
  if (report.feedback === null) return null;
  const { type, recipients } = report.feedback;
  const mail = mails.get(report.reportedMessage?.messageId ?? '');
  return {
    feedbackType: type,
    recipients,
    complainedMessageId: mail?.id ?? null,
    blindCopy: recipients.some((recipient) => {
      const deliveryId = mail?.deliveries.get(recipient.toLowerCase());
      return deliveryId !== undefined && mail?.blindCopies.has(deliveryId) === true;
    }),
  };
}

/** The class of the status code (RFC 3463 §3.1) decides where a report states no action. */
function actionOf({ action, status, hard }: DeliveryStatusReading): NewBounce['action'] {
  if (action !== 'unknown') return action;
  if (status?.startsWith('2.')) return 'delivered';
  return status?.startsWith('4.') && !hard ? 'delayed' : 'failed';
}

/** A report about a message with one recipient needs no address to be understood. */
function deliveryOf(
  mail: ReportedMail | undefined,
  recipients: readonly (string | null)[],
): string | null {
  if (mail === undefined) return null;
  for (const recipient of recipients) {
    const id = recipient === null ? undefined : mail.deliveries.get(recipient.toLowerCase());
    if (id !== undefined) return id;
  }
  return mail.deliveries.size === 1 ? [...mail.deliveries.values()][0]! : null;
}
