import {
  BounceReceived,
  ComplaintReceived,
  ConversationUpdated,
  EventEnvelope,
  MailFailed,
  MailReceived,
  MailSent,
} from '@dak/contracts/events';
import { uuidv7 } from '@dak/kernel';
import type { Database } from '@dak/platform/postgres';
import { journalEntry, timeOf } from '../src/analytics/journal-entry';
import { takeEvents } from '../src/analytics/take-events';

export interface Place {
  organizationId: string;
  mailboxId: string;
  departmentId?: string;
  conversationId: string;
}

const EXTERNAL = { type: 'external', id: '', name: 'Meera' };

/** Events as the mail service writes them, one conversation after the other. */
export function eventsIn(place: Place) {
  let sequence = 0;
  const envelope = (
    type: string,
    at: string,
    data: Uint8Array,
    actor = EXTERNAL,
    messageId?: string,
  ): EventEnvelope =>
    EventEnvelope.fromPartial({
      id: `evt_${uuidv7()}`,
      type,
      source: 'mail',
      ...place,
      messageId,
      partitionKey: `${place.organizationId}:${place.conversationId}`,
      sequence: (sequence += 1),
      occurredAt: new Date(at),
      actor,
      data: Buffer.from(data),
    });
  return {
    received: (at: string, fields: Partial<MailReceived> = {}) =>
      envelope(
        'mail.received',
        at,
        MailReceived.encode(
          MailReceived.fromPartial({
            kind: 'human',
            receivedAt: new Date(at),
            conversationStatus: 'open',
            ...fields,
          }),
        ).finish(),
        EXTERNAL,
        uuidv7(),
      ),
    sent: (
      at: string,
      actor: { type: string; id: string; name: string },
      fields: Partial<MailSent> = {},
      messageId = uuidv7(),
    ) =>
      envelope(
        'mail.sent',
        at,
        MailSent.encode(MailSent.fromPartial({ attempts: 1, ...fields })).finish(),
        actor,
        messageId,
      ),
    failed: (at: string, reason: string, attempts = 1) =>
      envelope(
        'mail.failed',
        at,
        MailFailed.encode(MailFailed.fromPartial({ reason, attempts })).finish(),
      ),
    changed: (
      at: string,
      after: Record<string, unknown>,
      options: { reason?: string; isNew?: boolean; actor?: typeof EXTERNAL } = {},
    ) =>
      envelope(
        'conversation.updated',
        at,
        ConversationUpdated.encode({
          reason: options.reason ?? 'status_changed',
          changes: Object.entries(after).map(([field, value]) => ({
            field,
            beforeJson: options.isNew === true ? 'null' : '"before"',
            afterJson: JSON.stringify(value),
          })),
        }).finish(),
        options.actor,
      ),
    bounced: (at: string, hard: boolean, action = 'failed') =>
      envelope(
        'bounce.received',
        at,
        BounceReceived.encode(
          BounceReceived.fromPartial({
            action,
            hard,
            reason: hard ? 'userunknown' : 'mailboxfull',
          }),
        ).finish(),
      ),
    complained: (at: string, feedbackType = 'abuse') =>
      envelope(
        'complaint.received',
        at,
        ComplaintReceived.encode(ComplaintReceived.fromPartial({ feedbackType })).finish(),
      ),
  };
}

/** Takes events in as the consumer of the log does. */
export async function take(database: Database, events: readonly EventEnvelope[]): Promise<void> {
  await database.asWorker((tx) =>
    takeEvents(
      tx,
      events.map((event) => ({
        organizationId: event.organizationId,
        occurredAt: timeOf(event),
        entry: journalEntry(event),
      })),
    ),
  );
}

/** The model of an organization as text, without the number of its generation: equal models are equal byte for byte. */
export async function modelOf(database: Database, organizationId: string): Promise<string> {
  return database.inTenant(organizationId, async (tx) => {
    const tables = ['analytics_conversation', 'analytics_fact', 'analytics_person'];
    const parts: string[] = [];
    for (const table of tables) {
      const { rows } = await tx.query<{ row: string }>(
        `select (to_jsonb(t) - 'generation')::text as row
           from ${table} t
           join analytics_model m using (organization_id, generation)
          where organization_id = $1
          order by 1`,
        [organizationId],
      );
      parts.push(table, ...rows.map(({ row }) => row));
    }
    return parts.join('\n');
  });
}
