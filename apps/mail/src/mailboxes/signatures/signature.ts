import type { SignatureRecord } from '@dak/contracts/api';
import { sanitizeHtml } from '@dak/formats/html';
import type { Signature } from '../../generated/prisma/client';

export function renderSignature(row: Signature): SignatureRecord {
  return {
    id: row.id,
    name: row.name,
    body_html: row.bodyHtml,
    body_text: row.bodyText,
    mailbox_id: row.mailboxId,
    is_default: row.isDefault,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

/** Without scripts and the like: signatures are shown to colleagues as well. Images stay. */
export function safeSignatureHtml(html: string): string {
  return sanitizeHtml(html, { remoteImages: 'on' });
}
