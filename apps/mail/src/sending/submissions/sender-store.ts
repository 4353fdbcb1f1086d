import { ConflictError, InvalidError, isUuid, NotFoundError, type Principal } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import { domainNotOwned } from '../../domains/domain';
import { domainOf } from '../../domains/domain-name';
import { MAILBOX_COLUMNS, type MailboxRow } from '../../mailboxes/mailbox-row';
import type { SignatureText } from './assemble-body';
import type { Recipient } from '@dak/contracts/api';
import type { SignatureChoice } from './submission-request';

/** Where a mail comes from: the From address and the signature. */
export interface Sender {
  readonly mailbox: MailboxRow;
  readonly from: Recipient;
  readonly signature: (SignatureText & { readonly id: string; readonly name: string }) | null;
}

interface SenderRow {
  owns_domain: boolean;
  default_from_name: string | null;
  id: string | null;
  name: string;
  body_text: string;
  body_html: string;
}

const SENDER = `
  select exists (select from domain d
                  where d.organization_id = $1 and d.status = 'verified'
                    and d.name = split_part(m.address, '@', 2)) as owns_domain,
         o.default_from_name, s.id, s.name, s.body_text, s.body_html
    from mailbox m
    left join organization o on o.organization_id = m.organization_id
    left join lateral (
           select id, name, body_text, body_html
             from signature
            where organization_id = $1 and (mailbox_id is null or mailbox_id = m.id)
              and case when $3 = 'chosen' then id = $4
                       when $3 = 'none' then false
                       else id = m.default_signature_id or is_default end
            order by id is not distinct from m.default_signature_id desc, mailbox_id is null
            limit 1) s on true
   where m.organization_id = $1 and m.id = $2`;

/**
 * Default signature: the mailbox's chosen one, else its own default, else that of the organization.
 * @param mayWait Mail of a disabled mailbox is accepted: it leaves when the mailbox is active again.
 * @throws ConflictError `mailbox_disabled`
 * @throws RefusedError `domain_not_owned` when the domain of the mailbox is no longer the organization's
 * @throws InvalidError when the chosen signature does not exist or belongs to another mailbox
 */
export async function loadSender(
  tx: SqlExecutor,
  principal: Principal,
  mailboxId: string,
  findMailbox: Promise<MailboxRow>,
  choice: SignatureChoice,
  mayWait = false,
): Promise<Sender> {
  // Both at once: they share a round trip.
  const [mailbox, { rows }] = await Promise.all([
    findMailbox,
    isUuid(mailboxId)
      ? tx.query<SenderRow>(SENDER, [
          principal.organizationId,
          mailboxId,
          choice.kind,
          choice.kind === 'chosen' ? choice.id : null,
        ])
      : { rows: [] },
  ]);
  if (mailbox.status !== 'active' && !mayWait) {
    throw new ConflictError(
      'The mailbox is disabled. Set its status to active before sending from it.',
      'mailbox_disabled',
    );
  }
  const row = rows[0]!;
  if (!row.owns_domain) throw domainNotOwned(domainOf(mailbox.address));
  if (choice.kind === 'chosen' && row.id === null) {
    throw new InvalidError('signature_id names no signature of this mailbox.', 'unknown_signature');
  }
  return {
    mailbox,
    from: { email: mailbox.address, name: mailbox.display_name ?? row.default_from_name ?? '' },
    signature:
      row.id === null
        ? null
        : { id: row.id, name: row.name, bodyText: row.body_text, bodyHtml: row.body_html },
  };
}

/** The live mailbox of a conversation that is already known to be open to the caller. */
export async function mailboxOf(
  tx: SqlExecutor,
  organizationId: string,
  mailboxId: string,
): Promise<MailboxRow> {
  const { rows } = await tx.query<MailboxRow>(
    `select ${MAILBOX_COLUMNS} from mailbox m where m.organization_id = $1 and m.id = $2 and m.deleted_at is null`,
    [organizationId, mailboxId],
  );
  if (rows[0] === undefined) throw new NotFoundError('mailbox');
  return rows[0];
}
