import { NotFoundError, isUuid } from '@dak/kernel';
import type { AddressRecord } from '@dak/contracts/api';
import { getHeader, parseAddressList, parseMessage } from '@dak/formats/rfc5322';
import type { BlobStore } from '@dak/platform/blobs';
import type { SqlExecutor } from '@dak/platform/postgres';
import { normalizeAddress, type Recipient } from '@dak/contracts/api';

/** What of a stored message an answer or a forward needs. */
export interface AnsweredMessageRow {
  id: string;
  direction: 'inbound' | 'outbound';
  from_address: AddressRecord | null;
  to_addresses: AddressRecord[];
  cc_addresses: AddressRecord[];
  reply_to: AddressRecord[];
  subject: string;
  body_text: string | null;
  body_html: string | null;
  message_id_header: string | null;
  in_reply_to: string | null;
  reference_ids: string[];
  flags: { auto_generated?: boolean; list_mail?: boolean };
  kind: string | null;
  raw_sha256: string | null;
  sort_at: string;
}

const COLUMNS = `id, direction, from_address, to_addresses, cc_addresses, reply_to, subject, body_text, body_html,
  message_id_header, in_reply_to, reference_ids, flags, kind, raw_sha256, sort_at`;

/**
 * The message that an answer answers: the newest of the other side, reports and automatic replies
 * only where there is nothing else; without any, our own newest one. Null in a conversation of notes.
 */
export async function findAnsweredMessage(
  tx: SqlExecutor,
  organizationId: string,
  conversationId: string,
): Promise<AnsweredMessageRow | null> {
  const { rows } = await tx.query<AnsweredMessageRow>(
    `select ${COLUMNS}
       from message
      where organization_id = $1 and conversation_id = $2
        and (direction = 'inbound' or direction = 'outbound' and status not in ('draft', 'canceled', 'awaiting_approval'))
      order by case when direction = 'outbound' then 2
                    when kind in ('dsn', 'arf', 'mdn', 'auto_reply') then 1
                    else 0 end,
               sort_at desc, id desc
      limit 1`,
    [organizationId, conversationId],
  );
  return rows[0] ?? null;
}

/** A message of the conversation to forward; without an id the newest. @throws NotFoundError */
export async function findForwardedMessage(
  tx: SqlExecutor,
  organizationId: string,
  conversationId: string,
  messageId: string | null,
): Promise<AnsweredMessageRow> {
  if (messageId !== null && !isUuid(messageId)) throw new NotFoundError('message');
  const { rows } = await tx.query<AnsweredMessageRow>(
    `select ${COLUMNS}
       from message
      where organization_id = $1 and conversation_id = $2 and direction <> 'internal_note'
        and ($3::uuid is null or id = $3)
      order by sort_at desc, id desc
      limit 1`,
    [organizationId, conversationId, messageId],
  );
  if (rows[0] === undefined) throw new NotFoundError('message');
  return rows[0];
}

/** Addresses that can be written to; a foreign header may hold anything. */
export function usableRecipients(addresses: readonly AddressRecord[]): Recipient[] {
  return addresses.flatMap(({ email, name }) => {
    const usable = normalizeAddress(email);
    return usable === null
      ? []
      : [
          {
            email: usable,
            name: name
              .replace(/\p{Cc}+/gu, ' ')
              .trim()
              .slice(0, 256),
          },
        ];
  });
}

/** Mail-Followup-To of the raw message; no column keeps it, as only answers to all ask for it. */
export async function readFollowupTo(
  blobs: BlobStore,
  organizationId: string,
  message: AnsweredMessageRow,
): Promise<Recipient[]> {
  if (message.raw_sha256 === null || message.direction !== 'inbound') return [];
  const raw = await blobs.get(organizationId, message.raw_sha256);
  const end = raw.indexOf('\r\n\r\n');
  const { headers } = parseMessage(raw.subarray(0, end < 0 ? raw.length : end + 4));
  const value = getHeader(headers, 'mail-followup-to');
  if (value === null) return [];
  return usableRecipients(
    parseAddressList(value).map(({ address, name }) => ({ email: address, name })),
  );
}
