import type { EventEnvelope } from '@dak/contracts/events';
import { mailEvent, type EventFacts } from '../mail-events';
import type { NewMessage } from './new-message';

/**
 * Events for a report's contents, after the event of its arrival: one per recipient of a
 * delivery status notification, one per complaint. An imported report is history and says nothing.
 */
export function reportEvents(
  message: Pick<NewMessage, 'bounces' | 'complaint' | 'imported'>,
): ((facts: EventFacts) => EventEnvelope)[] {
  if (message.imported) return [];
  const events = (message.bounces ?? []).map(
    (bounce) => (facts: EventFacts) =>
      mailEvent('bounce.received', facts, {
        recipient: bounce.recipient,
        action: bounce.action,
        status: bounce.status,
        smtpCode: bounce.smtpCode ?? undefined,
        hard: bounce.hard,
        reason: bounce.reason,
        bouncedMessageId: bounce.bouncedMessageId ?? undefined,
        deliveryId: bounce.deliveryId ?? undefined,
        blindCopy: bounce.blindCopy ?? false,
      }),
  );
  const { complaint } = message;
  if (complaint === null || complaint === undefined) return events;
  return [
    ...events,
    (facts) =>
      mailEvent('complaint.received', facts, {
        feedbackType: complaint.feedbackType,
        recipients: [...complaint.recipients],
        complainedMessageId: complaint.complainedMessageId ?? undefined,
        blindCopy: complaint.blindCopy ?? false,
      }),
  ];
}
