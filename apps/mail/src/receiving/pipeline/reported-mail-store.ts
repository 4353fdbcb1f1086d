import type { SqlExecutor } from '@dak/platform/postgres';
import { storableText } from '../../db/sql-parameters';
import type { MessageReading } from '../reading/message-reading';

/** Our own message that a report is about, with its deliveries. */
export interface ReportedMail {
  readonly id: string;
  /** Delivery by recipient in lower case. */
  readonly deliveries: ReadonlyMap<string, string>;
  /** Deliveries of blind copies. */
  readonly blindCopies: ReadonlySet<string>;
}

export type Report = Pick<MessageReading, 'deliveryStatus' | 'reportedMessage' | 'feedback'>;

/** Messages that the organization has sent, by the Message-ID that reports return (RFC 3464 §2.1). */
export type ReportedMails = ReadonlyMap<string, ReportedMail>;

/** What these reports are about; asks the database only when there are reports. */
export async function selectReportedMails(
  tx: SqlExecutor,
  organizationId: string,
  reports: readonly Report[],
): Promise<ReportedMails> {
  const messageIds = [
    ...new Set(
      reports
        .flatMap(({ reportedMessage }) => reportedMessage?.messageId ?? [])
        .filter((id) => id === storableText(id)),
    ),
  ];
  if (messageIds.length === 0) return new Map();
  // Complaints go to another mailbox than the one that sent, so all are searched, each by its index.
  const { rows } = await tx.query<{
    id: string;
    message_id_header: string;
    deliveries: Record<string, string> | null;
    blind_copies: string[];
  }>(
    `select m.id, m.message_id_header,
            (select jsonb_object_agg(lower(d.recipient), d.id)
               from delivery d
              where d.organization_id = m.organization_id and d.submission_id = m.id) as deliveries,
            array(select d.id::text
                    from delivery d
                   where d.organization_id = m.organization_id and d.submission_id = m.id
                     and d.role = 'bcc') as blind_copies
       from mailbox b
       join message m on m.organization_id = b.organization_id and m.mailbox_id = b.id
                     and m.message_id_header = any($2) and m.direction = 'outbound'
      where b.organization_id = $1
      order by m.id desc`,
    [organizationId, messageIds],
  );
  return new Map(
    rows.map(({ id, message_id_header, deliveries, blind_copies }) => [
      message_id_header,
      {
        id,
        deliveries: new Map(Object.entries(deliveries ?? {})),
        blindCopies: new Set(blind_copies),
      },
    ]),
  );
}
